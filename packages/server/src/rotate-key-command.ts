import { withStoreConnection } from "@intermission/postgres/connect-store";
import { requireMigrated } from "@intermission/postgres/migrate";
import { type SealedCounts, sealAnew } from "@intermission/postgres/sealed-columns";
import type { Command } from "commander";
import { withExamples } from "./command-line.ts";
import { recordOf } from "./command-tables.ts";
import { type MoveContext, refusing } from "./move-commands.ts";
import type { MovableStore } from "./move-store.ts";
import { StartFault } from "./start-fault.ts";

/** `rotate-encryption-key`: encrypts every stored secret with ENCRYPTION_KEY that PREVIOUS_ENCRYPTION_KEY still opens. */
export function rotateKeyCommand(program: Command, { store, print }: Pick<MoveContext, "store" | "print">): void {
  withExamples(
    program
      .command("rotate-encryption-key")
      .description(
        "encrypt the stored secrets with ENCRYPTION_KEY instead of PREVIOUS_ENCRYPTION_KEY, while servers run; repeated, it does what is left",
      ),
    ["rotate-encryption-key"],
  ).action(async () => {
    const opened = await store();
    const counts = await refusing(() => rotateKey(opened));
    const { current, previous, unreadable } = counts;
    print(counts, () =>
      [
        recordOf({
          "encrypted anew": previous,
          "had the key already": current,
          unreadable: unreadable.join(", ") || "none",
        }),
        ...(unreadable.length > 0 ? ["Neither key opens the unreadable ones: make new tokens for these bots."] : []),
        "Once no server encrypts with the previous key any more, start every node without PREVIOUS_ENCRYPTION_KEY.",
      ].join("\n\n"),
    );
  });
}

async function rotateKey(store: MovableStore): Promise<SealedCounts> {
  const { box, schema, migrations, sealedColumns: columns } = store;
  if (box === undefined)
    throw new StartFault(
      "ENCRYPTION_KEY is missing: set it to the new key, and PREVIOUS_ENCRYPTION_KEY to the old one",
    );
  if (!store.hasPreviousKey) {
    throw new StartFault(
      "PREVIOUS_ENCRYPTION_KEY is missing: set it to the key that the servers used so far, and ENCRYPTION_KEY to the new one",
    );
  }
  return withStoreConnection(store, { mayCreate: false }, async (client) => {
    await requireMigrated(client, schema, migrations);
    return sealAnew(client, { schema, columns, box });
  });
}

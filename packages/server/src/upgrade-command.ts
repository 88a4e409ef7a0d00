import type { Command } from "commander";
import { OperatorRefusal, withExamples } from "./command-line.ts";
import { recordOf } from "./command-tables.ts";
import { type MoveContext, progressOn, refusing } from "./move-commands.ts";

/** `upgrade-store`: moves a server's rows from an embedded cluster of another major version of PostgreSQL. */
export function upgradeCommand(
  commands: Command,
  { store, print, program }: Pick<MoveContext, "store" | "print"> & { readonly program: "ads" | "api" },
): void {
  const other = program === "ads" ? "api" : "ads";
  withExamples(
    commands
      .command("upgrade-store")
      .description(
        `move the embedded store to the PostgreSQL of this version, while no server runs; the old one stays beside it`,
      ),
    ["upgrade-store", "upgrade-store --programs /usr/lib/postgresql/17/bin"],
  )
    .option("--programs <folder>", "PostgreSQL's programs of the version that made the store")
    .action(async ({ programs }: { programs?: string }) => {
      const { upgradeCluster } = await import("@intermission/postgres/upgrade-cluster");
      const { databaseUrl, dataDirectory, schema, migrations } = await store();
      if (databaseUrl !== undefined) {
        const message =
          "upgrade-store is for the embedded database, but DATABASE_URL names a server: use pg_upgrade there, or export and import";
        throw new OperatorRefusal(400, "BAD_REQUEST", message);
      }
      const options = { dataDirectory, oldPrograms: programs, schema, migrations };
      const upgraded = await refusing(() => upgradeCluster({ ...options, onProgress: progressOn(process.stderr) }));
      print(upgraded, () => {
        if (upgraded.outcome === "current")
          return `The store is of PostgreSQL ${upgraded.major}, as this version needs it.`;
        const { from, to, left, kept } = upgraded;
        const next =
          left.length === 0
            ? `Start the servers. Once they work, remove ${kept}, the store as it was.`
            : `Next: pnpm ${other} upgrade-store, which moves ${left.join(", ")}. Until then the old store stays in its place.`;
        return `${recordOf({ [schema]: `moved from PostgreSQL ${from} to ${to}` })}\n\n${next}`;
      });
    });
}

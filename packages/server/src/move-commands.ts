import type { Progress } from "@intermission/postgres/copy-files";
import type { ExportManifest } from "@intermission/postgres/exported-store";
import type { Command } from "commander";
import { type CommandContext, OperatorRefusal, withExamples } from "./command-line.ts";
import { recordOf } from "./command-tables.ts";
import type { MovableStore } from "./move-store.ts";
import { startFaultOf } from "./start-fault.ts";

export interface MoveContext extends Pick<CommandContext<never>, "print"> {
  /** The store that this machine's settings name. Throws an `OperatorRefusal` if they name a server by its address. */
  store(): Promise<MovableStore>;
  /** What an export has, for the help: "all rows and the videos". */
  readonly contents: string;
}

/** `export` and `import`: they move a server's store between the embedded database and a database server, in both directions. */
export function moveCommands(program: Command, { store, contents, print }: MoveContext): void {
  withExamples(
    program
      .command("export")
      .description(`export ${contents} to a folder, from which any store can import them, while servers may run`),
    ["export /mnt/move"],
  )
    .argument("<folder>", "a folder; an interrupted export there is repeated")
    .action(async (folder: string) => {
      const { exportStore } = await import("./move-store.ts");
      const opened = await store();
      const { manifest, missingFiles } = await refusing(() => exportStore(opened, folder, progressOn(process.stderr)));
      print({ folder, ...summaryOf(manifest), missingFiles }, () =>
        [
          recordOf({ folder, ...shown(manifest) }),
          ...(missingFiles.length > 0 ? [`These files were missing already: ${missingFiles.join(", ")}.`] : []),
          `To move, keep the servers stopped: what they write from now on is not in the export. Then run import where the new store is, with the same ENCRYPTION_KEY.`,
        ].join("\n\n"),
      );
    });

  withExamples(
    program
      .command("import")
      .description(
        `import what export wrote into a store that no server has used, and compare them; repeated, it goes on`,
      ),
    ["import /mnt/move"],
  )
    .argument("<folder>", "the folder that export was called with")
    .action(async (folder: string) => {
      const { importStore } = await import("./move-store.ts");
      const opened = await store();
      const manifest = await refusing(() => importStore(opened, folder, progressOn(process.stderr)));
      print({ folder, ...summaryOf(manifest) }, () => {
        return `${recordOf({ folder, ...shown(manifest) })}\n\nEvery table has the rows of the export. Start the servers on this store, and no longer on the old one.`;
      });
    });
}

/** Faults that the operator can repair are refusals: exit code 1. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = startFaultOf(error);
    throw fault === undefined ? error : new OperatorRefusal(409, "CONFLICT", fault);
  }
}

function summaryOf({ schema, takenAt, tables, files }: ExportManifest) {
  const counts = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]));
  return { schema, takenAt, rows: rowsOf(tables), tables: counts, files: files.length };
}

function rowsOf(tables: ExportManifest["tables"]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function shown({ schema, takenAt, tables, files }: ExportManifest) {
  return {
    "complete until": takenAt,
    [schema]: `${tables.length} tables, ${rowsOf(tables)} rows`,
    files: String(files.length),
  };
}

const EVERY_MS = 2000;

/** A line for each step, and one every two seconds of it. */
export function progressOn(output: { write(text: string): unknown }): Progress {
  let last = { step: "", at: 0 };
  return (step, done, total) => {
    const now = Date.now();
    const isNext = step.replace(/ \(.*/, "") !== last.step.replace(/ \(.*/, "");
    if (!isNext && now - last.at < EVERY_MS) return;
    last = { step, at: now };
    const bytes = `: ${Math.round(done / 1_000_000)} of ${Math.round(total / 1_000_000)} MB`;
    output.write(`${step}${total === 0 ? "" : bytes}\n`);
  };
}

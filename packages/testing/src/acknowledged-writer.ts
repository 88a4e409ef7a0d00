import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The table of the writers. */
export const writerMigrations = { "0001": "create table things (id bigint primary key)" };

/** Eight writers in one process; each prints an id after its commit. */
const writing = `
  import { writeSync } from "node:fs";
  import { openDatabase, statement } from ${JSON.stringify(fileURLToPath(import.meta.resolve("@intermission/postgres/open-database")))};
  const [dataDirectory, schema, from] = process.argv.slice(1);
  const onDeath = () => process.exit(3);
  const database = await openDatabase({ dataDirectory, schema, migrations: ${JSON.stringify(writerMigrations)}, onDeath });
  const insert = statement("insert", "insert into things (id) values ($1)");
  let id = Number(from);
  const end = () => database.close().then(() => process.exit(0));
  process.on("SIGTERM", end);
  setInterval(() => {}, 1000);
  writeSync(1, "open\\n");
  const write = async () => { for (;;) { const mine = ++id; await database.run(insert, [mine]); writeSync(1, mine + "\\n"); } };
  if (from !== "0") await Promise.all(Array.from({ length: 8 }, write)).catch(() => {});
`;

interface Writer {
  readonly child: ChildProcess;
  readonly open: Promise<boolean>;
  readonly ended: Promise<unknown>;
  readonly words: () => string;
  acknowledged(): number[];
}

/** Opens the store of a data folder in a process and writes ids from `from` on; with 0 it only opens the store. */
export function startWriter(dataDirectory: string, schema: string, from: number): Writer {
  const words = ["--input-type=module-typescript", "-e", writing, dataDirectory, schema, String(from)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  const open = new Promise<boolean>((resolve) => {
    child.stdout.on("data", (chunk) => {
      output += chunk;
      if (output.includes("open\n")) resolve(true);
    });
    void ended.then(() => resolve(false));
  });
  // The last line of a killed process may be cut.
  const acknowledged = () => output.slice(0, output.lastIndexOf("\n")).split("\n").slice(1).map(Number);
  return { child, open, ended, words: () => errors, acknowledged };
}

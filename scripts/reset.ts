/**
 * `npm run reset`: removes the embedded store of `DATA_DIR` and what belongs to its rows, after a question, or with `--yes`.
 * It removes nothing else: the folder's other files stay, and a database that `DATABASE_URL` names is refused.
 */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { stopCopy } from "../packages/postgres/src/check-copy.ts";
import { clusterFolderOf, unfinishedRestoreOf } from "../packages/postgres/src/cluster-folder.ts";
import { whileAlone } from "../packages/postgres/src/join-cluster.ts";
import { type ClaimedFolder, requireDataFolder } from "../packages/server/src/data-folder.ts";
import { startFaultOf } from "../packages/server/src/start-fault.ts";
import { root } from "./processes.ts";
import { explain, Problem } from "./say.ts";

const help = `npm run reset [-- --yes]

Removes the embedded store in DATA_DIR (./data): the database of both servers, the uploaded videos and the secrets of the
demo, so that the next npm start begins anew. It lists them and asks first.

  --yes    do not ask
  --help   show this text`;

/** Files that are of no use without the rows of the store. */
const filesOfStore = [
  "ad-service/media",
  "ad-service/uses-database-server.json",
  "demo-bot/rewards-cursor",
  "demo-secrets.json",
];
const environmentOfBot = /^bot-[1-9]\d*\.env$/;

async function main(): Promise<void> {
  const { yes, help: isHelp } = readOptions(process.argv.slice(2));
  if (isHelp) return console.log(help);
  if (process.env.DATABASE_URL) {
    throw new Problem(
      "DATABASE_URL is set: npm run reset removes only an embedded store, never a database of a server.",
      "Unset DATABASE_URL to remove the embedded store; drop the schemas ad_service and api to empty that database.",
    );
  }
  const dataDirectory = resolve(process.env.DATA_DIR ?? join(root, "data"));
  if (clusterFoldersOf(dataDirectory).length === 0)
    throw new Problem(
      `${dataDirectory} has no embedded store.`,
      "Name the folder of the store: DATA_DIR=/path/to/folder npm run reset",
    );
  const paths = pathsOf(dataDirectory);
  console.log(`This removes for good:\n${paths.map((path) => `  ${path}\n`).join("")}`);
  if (!yes && !(await isConfirmed())) return console.log("Nothing was removed.");
  await remove(dataDirectory, paths);
  console.log("Removed. npm start makes a new store.");
}

function readOptions(words: readonly string[]) {
  try {
    const options = { yes: { type: "boolean", default: false }, help: { type: "boolean", default: false } } as const;
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new Problem(
      error instanceof Error ? error.message : String(error),
      "npm run reset -- --help shows the options.",
    );
  }
}

/** The cluster, and what an interrupted start or restore left beside it. */
function clusterFoldersOf(dataDirectory: string): string[] {
  const folder = clusterFolderOf(dataDirectory);
  return [folder, `${folder}.new`, unfinishedRestoreOf(dataDirectory)].filter((path) => existsSync(path));
}

function pathsOf(dataDirectory: string): string[] {
  const files = [...filesOfStore, ...readdirSync(dataDirectory).filter((name) => environmentOfBot.test(name))];
  const beside = files.map((name) => join(dataDirectory, name)).filter((path) => existsSync(path));
  const paths = [...clusterFoldersOf(dataDirectory), ...beside];
  const link = paths.find((path) => lstatSync(path).isSymbolicLink());
  if (link === undefined) return paths;
  throw new Problem(
    `${link} is a link, and what it names may be used elsewhere.`,
    "Remove the link, then run this again.",
  );
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Problem("Nobody can be asked, since the input is no terminal.", "Add --yes: npm run reset -- --yes");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question("Remove them? [y/N] ").finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
}

/**
 * Servers own their folders while they run, and so does this process until it ends. The files of locks stay, since another
 * process may wait for them.
 */
async function remove(dataDirectory: string, paths: readonly string[]): Promise<void> {
  const claims: ClaimedFolder[] = [];
  try {
    for (const server of ["ad-service", "api"].map((name) => join(dataDirectory, name)))
      if (existsSync(server)) claims.push(await requireDataFolder(server));
    await whileAlone(dataDirectory, async () => {
      // A crash may have left its database server running.
      for (const folder of clusterFoldersOf(dataDirectory)) await stopCopy(folder);
      for (const path of paths) await rm(path, { recursive: true });
    });
  } catch (error) {
    const fault = startFaultOf(error);
    throw fault === undefined ? error : new Problem(`Not removed: ${fault}.`, "Stop the servers, then run this again.");
  } finally {
    for (const claim of claims) await claim.release();
  }
}

main().catch(explain);

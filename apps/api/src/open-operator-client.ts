import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ClaimedFolder, claimDataFolder, socketPathOf } from "@intermission/server/data-folder";
import type { CommandConfig } from "./config.ts";
import { NotReachable, type OperatorClient, socketOperatorClient } from "./operator/operator-client.ts";

const waitForOwnerMs = 60_000;

/**
 * Connects to the running server by the socket in its data folder. If no server answers there, opens the store in this
 * process: an embedded one under the same claim that a server takes, so that it never has two owners.
 */
export async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { databaseUrl, dataFolder } = config;
  if (databaseUrl === undefined && !existsSync(join(dataFolder, "postgres"))) {
    throw new NotReachable(`${dataFolder} holds no store: start the companion API, or set DATA_DIR to its folder`);
  }
  const folder = databaseUrl === undefined ? await claimOrFindServer(dataFolder) : undefined;
  if (folder === "served") return socketOperatorClient(socketPathOf(dataFolder));
  // Loaded only when needed, so that a query to a running server stays fast.
  const { openStoreInProcess } = await import("./open-store-in-process.ts");
  return openStoreInProcess(config, folder);
}

/** Claims the folder, or finds the server that owns it. Another command that owns it does not answer and releases it soon. */
async function claimOrFindServer(dataFolder: string): Promise<ClaimedFolder | "served"> {
  const giveUpAt = Date.now() + waitForOwnerMs;
  while (Date.now() < giveUpAt) {
    const claim = await claimDataFolder(dataFolder);
    if (claim.outcome === "claimed") return claim;
    if (await isServed(socketPathOf(dataFolder), giveUpAt - Date.now())) return "served";
    // Its owner has not opened the socket yet, or is closing it.
    await wait(50);
  }
  throw new NotReachable(`${dataFolder} is in use by a process that does not answer: stop it, or try again later`);
}

function isServed(socketPath: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { socketPath, path: "/healthz", agent: false, timeout: Math.max(1, timeoutMs) };
    const question = request(options, (answer) => {
      answer.resume();
      resolve(true);
    });
    question.once("timeout", () => question.destroy());
    question.once("error", () => resolve(false));
    question.end();
  });
}

import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ClaimedFolder, claimDataFolder, socketPathOf } from "@intermission/server/data-folder";
import type { CommandConfig } from "./config.ts";
import { httpOperatorClient, NotReachable, type OperatorClient } from "./operator/operator-client.ts";

/**
 * Connects to the running server, at its address or by the socket in its data folder. If no server answers there, opens
 * the store in this process: an embedded one under the same claim that a server takes, so that it never has two owners.
 */
export async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { url, operatorToken, dataFolder, databaseUrl } = config;
  if (url !== undefined) {
    if (operatorToken !== undefined) return httpOperatorClient({ url, operatorToken });
    throw new NotReachable(`OPERATOR_TOKEN is missing: set it to the token that ${url} was started with`);
  }
  // An unused folder holds no store: a mistyped DATA_DIR must not create one.
  if (databaseUrl === undefined && !["postgres", "owner.lock"].some((name) => existsSync(join(dataFolder, name)))) {
    throw new NotReachable(
      `${dataFolder} holds no store, and no server runs on it: start the ad service, or set DATA_DIR to the right folder, ` +
        "a server by --url and OPERATOR_TOKEN, or its database by DATABASE_URL",
    );
  }
  const folder = databaseUrl === undefined ? await claimOrFindServer(dataFolder) : undefined;
  if (folder === "served") return httpOperatorClient({ socketPath: socketPathOf(dataFolder) });
  const { encryptionKey } = config;
  if (encryptionKey === undefined) {
    await folder?.release();
    throw new NotReachable(
      `no server runs on ${databaseUrl === undefined ? dataFolder : "this machine's data folder"}. Start it; or name it by --url and OPERATOR_TOKEN; ` +
        "or set ENCRYPTION_KEY to the server's key, to open its store here",
    );
  }
  // Loaded only when needed, so that a command to a running server stays fast.
  const { openStoreInProcess } = await import("./open-store-in-process.ts");
  return openStoreInProcess({ ...config, encryptionKey }, folder);
}

const WAIT_FOR_OWNER_MS = 60_000;

/**
 * Claims the folder, or finds the server that owns it. Another command that owns it does not answer and releases it
 * soon. The check precedes the command itself, so that no change is ever sent twice.
 */
async function claimOrFindServer(dataFolder: string): Promise<ClaimedFolder | "served"> {
  const giveUpAt = Date.now() + WAIT_FOR_OWNER_MS;
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
    const question = request(
      { socketPath, path: "/healthz", agent: false, timeout: Math.max(1, timeoutMs) },
      (answer) => {
        answer.resume();
        resolve(true);
      },
    );
    question.once("timeout", () => question.destroy());
    question.once("error", () => resolve(false));
    question.end();
  });
}

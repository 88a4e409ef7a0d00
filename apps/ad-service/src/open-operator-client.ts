import { claimDataFolder, socketPathOf } from "@intermission/http-server/control-socket";
import type { CommandConfig } from "./config.ts";
import { httpOperatorClient, NotReachable, type OperatorClient } from "./operator/operator-client.ts";

/**
 * The running server, at its address or by the socket in its data folder. Where nobody answers there, the store is
 * opened here: an embedded one under the same claim that a server would take, so that it never has two owners.
 */
export async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { url, operatorToken, dataFolder, databaseUrl } = config;
  if (url !== undefined) {
    if (operatorToken !== undefined) return httpOperatorClient({ url, operatorToken });
    throw new NotReachable(`OPERATOR_TOKEN is missing: ${url} asks for the one that it was started with`);
  }
  const folder = databaseUrl === undefined ? await claimDataFolder(dataFolder) : undefined;
  if (folder?.outcome === "in-use") return httpOperatorClient({ socketPath: socketPathOf(dataFolder) });
  const { encryptionKey } = config;
  if (encryptionKey === undefined) {
    await folder?.release();
    throw new NotReachable(
      `no server runs on ${databaseUrl === undefined ? dataFolder : "this machine's data folder"}. Start it; or name it by --url and OPERATOR_TOKEN; ` +
        "or set ENCRYPTION_KEY to what the server has, and its store is opened here",
    );
  }
  // Loaded only where it is needed: a command to a running server answers in a blink.
  const { openStoreInProcess } = await import("./open-store-in-process.ts");
  return openStoreInProcess({ ...config, encryptionKey }, folder);
}

import "@intermission/server/refuse-inspector";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { abandonedStoreFault } from "@intermission/server/abandoned-store";
import { claimOrFindServer, configurationOf, NotReachable, runCommandLine } from "@intermission/server/command-line";
import { socketPathOf } from "@intermission/server/data-folder";
import { httpOperatorClient, type OperatorClient } from "@intermission/server/operator-client";
import { addAdsCommands, createAdsProgram } from "./command-program.ts";
import { type CommandConfig, readCommandConfig } from "./config.ts";

const program = createAdsProgram();

const config = configurationOf(program, () => readCommandConfig(program.opts<{ url?: string }>()));

process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  open: () => openOperatorClient(config()),
  addCommands: (to, context) => addAdsCommands(to, { ...context, config }),
});

/**
 * Connects to the running server, at its address or by the socket in its data folder. If no server answers there, opens
 * the store in this process, under the same claim that a server takes.
 */
async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { url, operatorToken, dataDirectory, dataFolder, databaseUrl } = config;
  if (url !== undefined) {
    if (operatorToken !== undefined) return httpOperatorClient({ url, operatorToken });
    throw new NotReachable(`OPERATOR_TOKEN is missing: set it to the token that ${url} was started with`);
  }
  // An unused folder holds no store: a mistyped DATA_DIR must not create one.
  const traces = [join(dataDirectory, "postgres"), join(dataFolder, "owner.lock")];
  if (databaseUrl === undefined && !traces.some((path) => existsSync(path))) {
    throw new NotReachable(
      `${dataFolder} holds no store, and no server runs on it: start the ad service, or set DATA_DIR to the right folder, ` +
        "a server by --url and OPERATOR_TOKEN, or its database by DATABASE_URL",
    );
  }
  const folder = databaseUrl === undefined ? await claimOrFindServer(dataFolder) : undefined;
  if (folder === "served") return httpOperatorClient({ socketPath: socketPathOf(dataFolder) });
  const abandoned = abandonedStoreFault(config);
  if (abandoned !== undefined) {
    await folder?.release();
    throw new NotReachable(abandoned);
  }
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

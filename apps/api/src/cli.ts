import "@intermission/server/refuse-inspector";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { abandonedStoreFault } from "@intermission/server/abandoned-store";
import { claimOrFindServer, configurationOf, NotReachable, runCommandLine } from "@intermission/server/command-line";
import { socketPathOf } from "@intermission/server/data-folder";
import { addApiCommands, createApiProgram } from "./command-program.ts";
import { type CommandConfig, readCommandConfig } from "./config.ts";
import { type OperatorClient, socketOperatorClient } from "./operator-client.ts";

const program = createApiProgram();

const config = configurationOf(program, () => readCommandConfig());

process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  open: () => openOperatorClient(config()),
  addCommands: (to, context) => addApiCommands(to, { ...context, config }),
});

/**
 * Connects to the running server by the socket in its data folder. If no server answers there, opens the store in this
 * process, under the same claim that a server takes.
 */
async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { databaseUrl, dataDirectory, dataFolder } = config;
  if (databaseUrl === undefined && !existsSync(join(dataDirectory, "postgres"))) {
    throw new NotReachable(`${dataDirectory} holds no store: start the companion API, or set DATA_DIR to its folder`);
  }
  const folder = databaseUrl === undefined ? await claimOrFindServer(dataFolder) : undefined;
  if (folder === "served") return socketOperatorClient(socketPathOf(dataFolder), config.botId);
  const abandoned = abandonedStoreFault(config);
  if (abandoned !== undefined) {
    await folder?.release();
    throw new NotReachable(abandoned);
  }
  // Loaded only when needed, so that a query to a running server stays fast.
  const { openStoreInProcess } = await import("./open-store-in-process.ts");
  return openStoreInProcess(config, folder);
}

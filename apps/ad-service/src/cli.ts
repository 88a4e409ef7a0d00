import { existsSync } from "node:fs";
import { join } from "node:path";
import { claimOrFindServer, exitCodesHelp, NotReachable, runCommandLine } from "@intermission/server/command-line";
import { socketPathOf } from "@intermission/server/data-folder";
import { httpOperatorClient, type OperatorCall, type OperatorClient } from "@intermission/server/operator-client";
import { Command } from "commander";
import { explainCommand } from "./ad-selection/commands.ts";
import { advertiserCommands } from "./advertisers/commands.ts";
import { botCommands, tokenCommands } from "./bots/commands.ts";
import { campaignCommands } from "./campaigns/commands.ts";
import { clickCommands } from "./clicks/commands.ts";
import { type CommandConfig, readCommandConfig } from "./config.ts";
import { creativeCommands } from "./creatives/commands.ts";
import { deliveryCommands } from "./deliveries/commands.ts";
import { endpointCommands } from "./deliveries/endpoint-commands.ts";
import { eventCommands } from "./events/commands.ts";
import { statsCommands } from "./statistics/commands.ts";
import { userCommands } from "./users/commands.ts";
import { viewCommands } from "./views/commands.ts";

const commands = [
  botCommands,
  tokenCommands,
  campaignCommands,
  creativeCommands,
  explainCommand,
  eventCommands,
  deliveryCommands,
  endpointCommands,
  advertiserCommands,
  viewCommands,
  clickCommands,
  statsCommands,
  userCommands,
];

const program = new Command("ads")
  .description("The operator's command line of the ad service.")
  .option("--url <url>", "address of a running ad service (default: ADS_URL)")
  .addHelpText(
    "after",
    `
It connects to the server that runs on DATA_DIR (./data), or to the one that --url or ADS_URL names, with OPERATOR_TOKEN.
If no server runs, it opens the store itself, with ENCRYPTION_KEY.

${exitCodesHelp}`,
  );

process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  open: () => openOperatorClient(readCommandConfig(program.opts<{ url?: string }>())),
  addCommands(program, { client, print, isJson }) {
    const context = { call: async (call: OperatorCall) => (await client()).call(call), print, isJson };
    for (const addCommands of commands) addCommands(program, context);
  },
});

/**
 * Connects to the running server, at its address or by the socket in its data folder. If no server answers there, opens
 * the store in this process: an embedded one under the same claim that a server takes, so that it never has two owners.
 */
async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
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

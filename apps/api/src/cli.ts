import { existsSync } from "node:fs";
import { join } from "node:path";
import { claimOrFindServer, exitCodesHelp, NotReachable, runCommandLine } from "@intermission/server/command-line";
import { socketPathOf } from "@intermission/server/data-folder";
import { Command } from "commander";
import { botCommands } from "./bots/commands.ts";
import { type CommandConfig, readCommandConfig } from "./config.ts";
import { rewardCommands } from "./ledger/commands.ts";
import { type OperatorClient, socketOperatorClient } from "./operator-client.ts";
import { userCommands } from "./users/commands.ts";
import { receiptCommands } from "./webhook-intake/commands.ts";

const program = new Command("api").description("The publisher's command line of the companion API.").addHelpText(
  "after",
  `
It connects to the server that runs on DATA_DIR (./data). If no server runs, or with DATABASE_URL, it opens the store itself.
Where there are several bots, BOT_ID selects the one of a command; the commands of bots name theirs.

${exitCodesHelp}`,
);

process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  open: () => openOperatorClient(readCommandConfig()),
  addCommands(program, context) {
    for (const addCommands of [botCommands, receiptCommands, rewardCommands, userCommands])
      addCommands(program, context);
  },
});

/**
 * Connects to the running server by the socket in its data folder. If no server answers there, opens the store in this
 * process: an embedded one under the same claim that a server takes, so that it never has two owners.
 */
async function openOperatorClient(config: CommandConfig): Promise<OperatorClient> {
  const { databaseUrl, dataFolder } = config;
  if (databaseUrl === undefined && !existsSync(join(dataFolder, "postgres"))) {
    throw new NotReachable(`${dataFolder} holds no store: start the companion API, or set DATA_DIR to its folder`);
  }
  const folder = databaseUrl === undefined ? await claimOrFindServer(dataFolder) : undefined;
  if (folder === "served") return socketOperatorClient(socketPathOf(dataFolder), config.botId);
  // Loaded only when needed, so that a query to a running server stays fast.
  const { openStoreInProcess } = await import("./open-store-in-process.ts");
  return openStoreInProcess(config, folder);
}

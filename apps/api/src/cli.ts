import { exitCodesHelp, runCommandLine } from "@intermission/server/command-line";
import { Command } from "commander";
import { readCommandConfig } from "./config.ts";
import { rewardCommands } from "./ledger/commands.ts";
import { openOperatorClient } from "./open-operator-client.ts";
import { userCommands } from "./users/commands.ts";
import { receiptCommands } from "./webhook-intake/commands.ts";

const program = new Command("api").description("The publisher's command line of the companion API.").addHelpText(
  "after",
  `
It connects to the server that runs on DATA_DIR (./data). If no server runs, or with DATABASE_URL, it opens the store itself;
if that holds several bots, BOT_ID selects one.

${exitCodesHelp}`,
);

process.exitCode = await runCommandLine(program, process.argv.slice(2), {
  open: () => openOperatorClient(readCommandConfig()),
  addCommands(program, context) {
    for (const addCommands of [receiptCommands, rewardCommands, userCommands]) addCommands(program, context);
  },
});

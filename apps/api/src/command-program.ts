import { versionForCommand } from "@intermission/server/build-identity";
import { type CommandContext, exitCodesHelp } from "@intermission/server/command-line";
import { completionCommand } from "@intermission/server/completion-command";
import { logIdCommand } from "@intermission/server/log-id-command";
import { moveCommands } from "@intermission/server/move-commands";
import { rotateKeyCommand } from "@intermission/server/rotate-key-command";
import { upgradeCommand } from "@intermission/server/upgrade-command";
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { botCommands } from "./bots/commands.ts";
import type { CommandConfig } from "./config.ts";
import { rewardCommands } from "./ledger/commands.ts";
import { statusCommand } from "./node-status.ts";
import type { OperatorClient } from "./operator-client.ts";
import { userCommands } from "./users/commands.ts";
import { receiptCommands } from "./webhook-intake/commands.ts";

/** The program `api` with its options, without its commands. */
export function createApiProgram(): Command {
  return new Command("api")
    .description("The publisher's command line of the companion API.")
    .version(versionForCommand(manifest.version))
    .addHelpText(
      "after",
      `
It connects to the server that runs on DATA_DIR (./data). If no server runs, or with DATABASE_URL, it opens the store itself.
Where there are several bots, BOT_ID selects the one of a command; the commands of bots name theirs.

${exitCodesHelp}`,
    );
}

interface ApiContext extends CommandContext<OperatorClient> {
  /** The settings of this machine. */
  config(): CommandConfig;
}

/** Adds all commands. `context` connects to a server or a store, or reads this machine's settings, when a command runs. */
export function addApiCommands(program: Command, context: ApiContext): void {
  for (const addCommands of [botCommands, receiptCommands, rewardCommands, userCommands, statusCommand])
    addCommands(program, context);
  const { print } = context;
  const store = async () => {
    const { movableStore } = await import("./movable-store.ts");
    return movableStore(context.config());
  };
  moveCommands(program, { contents: "all rows", print, store });
  upgradeCommand(program, { print, store, program: "api" });
  rotateKeyCommand(program, { print, store });
  completionCommand(program);
  logIdCommand(program, { print, secrets: () => context.config().logIdSecrets });
}

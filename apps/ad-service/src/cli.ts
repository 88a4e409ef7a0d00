import { startFaultOf } from "@intermission/server/start-fault";
import { Command, CommanderError } from "commander";
import { explainCommand } from "./ad-selection/commands.ts";
import { advertiserCommands } from "./advertisers/commands.ts";
import { botCommands, tokenCommands } from "./bots/commands.ts";
import { campaignCommands } from "./campaigns/commands.ts";
import { clickCommands } from "./clicks/commands.ts";
import { readCommandConfig } from "./config.ts";
import { creativeCommands } from "./creatives/commands.ts";
import { deliveryCommands } from "./deliveries/commands.ts";
import { endpointCommands } from "./deliveries/endpoint-commands.ts";
import { eventCommands } from "./events/commands.ts";
import { openOperatorClient } from "./open-operator-client.ts";
import { nameFlags } from "./operator/name-flags.ts";
import { NotReachable, type OperatorClient, OperatorRefusal } from "./operator/operator-client.ts";
import { statsCommands } from "./statistics/commands.ts";
import { userCommands } from "./users/commands.ts";
import { viewCommands } from "./views/commands.ts";

const exitCodes = { done: 0, refused: 1, wrongUsage: 2, notReachable: 3 };

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

const help = `
It connects to the server that runs on DATA_DIR (./data), or to the one that --url or ADS_URL names, with OPERATOR_TOKEN.
If no server runs, it opens the store itself, with ENCRYPTION_KEY.

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no server or store within reach.`;

async function main(words: readonly string[]): Promise<number> {
  let client: OperatorClient | undefined;
  const program = new Command("ads")
    .description("The operator's command line of the ad service.")
    .option("--json", "print the answer as JSON, for programs")
    .option("--url <url>", "address of a running ad service (default: ADS_URL)")
    .addHelpText("after", help)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("See it with --help.")
    .exitOverride();
  let running: Command | undefined;
  program.hook("preAction", (_program, command) => {
    running = command;
  });
  const context = {
    async call(call: Parameters<OperatorClient["call"]>[0]) {
      client ??= await openOperatorClient(readCommandConfig(program.opts<{ url?: string }>()));
      return client.call(call);
    },
    print(answer: unknown, asText: () => string) {
      console.log(context.isJson() ? JSON.stringify(answer, undefined, 2) : asText());
    },
    isJson: () => program.opts().json === true,
  };
  for (const addCommands of commands) addCommands(program, context);
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCodes.done;
  } catch (error) {
    return tell(error, running);
  } finally {
    await client?.close();
  }
}

/** Prints what failed and the next step, and returns the exit code. */
function tell(error: unknown, command: Command | undefined): number {
  // Commander has printed its own errors already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (error instanceof OperatorRefusal) {
    console.error(`ads: ${nameFlags(error, command)}`);
    return exitCodes.refused;
  }
  if (error instanceof NotReachable) {
    console.error(`ads: ${error.message}`);
    return exitCodes.notReachable;
  }
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `ads: ${fault}`);
  return fault === undefined ? exitCodes.refused : exitCodes.notReachable;
}

process.exitCode = await main(process.argv.slice(2));

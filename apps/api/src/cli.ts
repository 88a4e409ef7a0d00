import { Command, CommanderError } from "commander";
import { readCommandConfig } from "./config.ts";
import { openOperatorClient } from "./open-operator-client.ts";
import { receiptCommands } from "./operator/commands/receipts.ts";
import { rewardCommands } from "./operator/commands/rewards.ts";
import { userCommands } from "./operator/commands/users.ts";
import { NotReachable, type OperatorClient, OperatorRefusal } from "./operator/operator-client.ts";

const exitCodes = { done: 0, refused: 1, wrongUsage: 2, notReachable: 3 };

const help = `
It connects to the server that runs on DATA_DIR (./data). If no server runs, or with DATABASE_URL, it opens the store itself;
if that holds several bots, BOT_ID selects one.

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no server or store within reach.`;

async function main(words: readonly string[]): Promise<number> {
  let client: OperatorClient | undefined;
  const program = new Command("api")
    .description("The publisher's command line of the companion API.")
    .option("--json", "print the answer as JSON, for programs")
    .addHelpText("after", help)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("See it with --help.")
    .exitOverride();
  const context = {
    async client() {
      client ??= await openOperatorClient(readCommandConfig());
      return client;
    },
    print(answer: unknown, asText: () => string) {
      console.log(program.opts().json ? JSON.stringify(answer, undefined, 2) : asText());
    },
  };
  receiptCommands(program, context);
  rewardCommands(program, context);
  userCommands(program, context);
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCodes.done;
  } catch (error) {
    return tell(error);
  } finally {
    await client?.close();
  }
}

/** Prints what failed and the next step, and returns the exit code. */
function tell(error: unknown): number {
  // Commander has printed its own errors already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (error instanceof NotReachable || error instanceof OperatorRefusal) console.error(`api: ${error.message}`);
  else console.error(error);
  return error instanceof NotReachable ? exitCodes.notReachable : exitCodes.refused;
}

process.exitCode = await main(process.argv.slice(2));

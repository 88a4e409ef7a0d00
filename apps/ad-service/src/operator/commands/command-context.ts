import type { Command } from "commander";
import type { OperatorClient } from "../operator-client.ts";
import { type Row, row } from "../show.ts";

export interface CommandContext {
  /** Connects with the first call of a command. */
  call: OperatorClient["call"];
  /** For people, or with `--json` the server's own answer for programs. */
  print(answer: unknown, asText: () => string): void;
  /** A program asks: it is told everything at once, and not asked back. */
  isJson(): boolean;
}

export async function callForRow(context: CommandContext, call: Parameters<OperatorClient["call"]>[0]): Promise<Row> {
  return row.parse(await context.call(call));
}

/** `add --name x …`: an example under the help of a command. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\nExamples:\n${examples.map((example) => `  $ pnpm ads ${example}`).join("\n")}`,
  );
}

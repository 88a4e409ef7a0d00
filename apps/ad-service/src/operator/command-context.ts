import type { Command } from "commander";
import type { OperatorClient } from "./operator-client.ts";
import { type Row, row } from "./show.ts";

export interface CommandContext {
  /** Connects on the first call of a command. */
  call: OperatorClient["call"];
  /** Prints text for people, or with `--json` the server's own answer for programs. */
  print(answer: unknown, asText: () => string): void;
  /** Whether the caller is a program: it gets everything in one answer, without a prompt. */
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

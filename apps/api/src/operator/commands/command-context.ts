import { type Command, InvalidArgumentError } from "commander";
import type { OperatorClient } from "../operator-client.ts";

export interface CommandContext {
  /** Connects on the first query of a command. */
  client(): Promise<OperatorClient>;
  /** Prints text for people, or with `--json` the answer itself for programs. */
  print(answer: unknown, asText: () => string): void;
}

/** `receipts list …`: an example under the help of a command. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\nExamples:\n${examples.map((example) => `  $ pnpm api ${example}`).join("\n")}`,
  );
}

export function limitUpTo(most: number) {
  return (text: string): number => {
    const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
    return limit;
  };
}

export function telegramIdOption(text: string): string {
  if (!/^[1-9][0-9]{0,19}$/.test(text)) throw new InvalidArgumentError("It must be a Telegram id: digits.");
  return text;
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time span ago, such as `90m`, `24h` or `7d`, or a date-time such as `2026-01-31` or `2026-01-31T12:00:00Z`. */
export function sinceOption(text: string): Date {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (number !== undefined && (unit === "m" || unit === "h" || unit === "d")) {
    return new Date(Date.now() - Number(number) * unitMs[unit]);
  }
  const moment = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? new Date(text) : undefined;
  if (moment === undefined || Number.isNaN(moment.getTime())) {
    throw new InvalidArgumentError(
      "It must be a time span such as 90m, 24h or 7d, or a date-time such as 2026-01-31T12:00:00Z.",
    );
  }
  return moment;
}

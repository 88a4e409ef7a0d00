import { randomUUID } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import { NotReachable } from "./command-line.ts";
import type { CommandContext, OperatorCall } from "./operator-client.ts";

interface KeyOption {
  idempotencyKey?: string | undefined;
}

/** The option of commands that record something: with the key of an earlier try, a repeat records nothing twice. */
export function keyed(command: Command): Command {
  return command.option("--idempotency-key <key>", "of an earlier try whose answer was lost", keyOption);
}

function keyOption(text: string): string {
  if (!/^[\w-]{16,64}$/.test(text)) throw new InvalidArgumentError("It has 16 to 64 letters, digits, - or _.");
  return text;
}

/** Calls with the key of the option, or a new one. Where no answer comes, the error says how to repeat the command. */
export async function callWithKey(
  context: CommandContext,
  { idempotencyKey = randomUUID() }: KeyOption,
  callOf: (idempotencyKey: string) => OperatorCall,
): Promise<unknown> {
  try {
    return await context.call(callOf(idempotencyKey));
  } catch (error) {
    if (!(error instanceof NotReachable)) throw error;
    const how = `whether it was recorded is unknown: repeat the command with --idempotency-key ${idempotencyKey}, which records it once`;
    throw new NotReachable(`${error.message}; ${how}`, { cause: error });
  }
}

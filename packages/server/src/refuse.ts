import type { FieldFault } from "@intermission/operator-api/field-faults";
import type { GeneralProblem, ProblemCode, ProblemValues, SignInProblem } from "@intermission/operator-api/problems";
import { HttpError } from "./http-server.ts";

/**
 * A refusal of an operator's route that has no values, in words for who reads it on the command line. Screens have a sentence
 * for each code.
 */
export function refusal(
  status: number,
  code: GeneralProblem | SignInProblem,
  message: string,
  options: { details?: unknown; headers?: Record<string, string> } = {},
): HttpError {
  return new HttpError(status, code, message, options);
}

export function notFound(message: string): HttpError {
  return refusal(404, "NOT_FOUND", message);
}

/**
 * A refusal that screens say in the reader's language, by its code and values; the message is for the command line and for
 * programs.
 */
export function conflict<Code extends ProblemCode>(
  code: Code,
  message: string,
  ...[values]: keyof ProblemValues<Code> extends never ? [] : [values: ProblemValues<Code>]
): HttpError {
  return new HttpError(409, code, message, values === undefined ? {} : { details: { values } });
}

/** The same for what was there once and is no longer kept. */
export function gone<Code extends ProblemCode>(code: Code, message: string, values: ProblemValues<Code>): HttpError {
  return new HttpError(410, code, message, { details: { values } });
}

/** A disk that is full: nothing of the request was stored. */
export function storageFull(message: string): HttpError {
  return refusal(507, "STORAGE_FULL", message);
}

export function storageUnwritable(message: string): HttpError {
  return refusal(507, "STORAGE_UNWRITABLE", message);
}

/** A field's fault, which screens say in the reader's language by its code. The command line replaces the field by its flag. */
export function invalidField(field: string, message: string, { code, values }: FieldFault): HttpError {
  return invalid(`${field} ${message}`, [{ field, message, code, values }]);
}

export function invalid(message: string, details?: unknown): HttpError {
  return refusal(400, "BAD_REQUEST", message, { details });
}

/** An effect of a request that is rarely meant: a sentence about the field that causes it, and its code for screens. */
export interface ConfirmableEffect {
  field: string;
  message: string;
  effect: FieldFault;
}

export const CONFIRMATION_NEEDED = "CONFIRMATION_NEEDED";

/** Refuses a request whose effects are rarely meant, until it is repeated with the query `confirmed=true`. */
export function requireConfirmation(
  effects: readonly ConfirmableEffect[],
  { isConfirmed }: { isConfirmed: boolean },
): void {
  if (isConfirmed || effects.length === 0) return;
  const sentences = effects.map(({ field, message }) => `${field}: ${message}`).join("; ");
  const message = `${sentences}. Nothing was changed; if this is meant, repeat the request with ?confirmed=true`;
  const details = effects.map(({ field, message, effect: { code, values } }) => ({ field, message, code, values }));
  throw refusal(409, CONFIRMATION_NEEDED, message, { details });
}

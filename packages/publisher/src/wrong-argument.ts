import { AdsError } from "./ads-error.ts";
import { refusedUserId } from "./refused-user-id.ts";

// createAds loads this file when an argument cannot be right: the core stays small.

export type WrongArgument = "request" | "userId" | "reference" | "code" | "eventId" | "cardId";

/** The error of a call that is not sent, because an argument cannot be right. */
export function wrongArgument(argument: WrongArgument, value: unknown): AdsError {
  if (argument === "userId") {
    const { code, message } = refusedUserId(value);
    return new AdsError(message, { code });
  }
  const messages = {
    request: "createCode takes an object: createCode({ userId: ctx.from.id })",
    reference: referenceFault(value),
    code: `code ${faultOfText(value)}: pass the code that createCode returned, or that of an event`,
    eventId: `eventId ${faultOfText(value)}: pass the eventId of an event, such as that of a webhook or of events()`,
    cardId: `cardId ${faultOfText(value)}: pass the cardId of a card`,
  } satisfies Record<typeof argument, string>;
  return new AdsError(messages[argument], { code: "BAD_REQUEST" });
}

function referenceFault(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint")
    return `reference is a number: pass text, String(${String(value)})`;
  if (typeof value !== "string") return `reference is ${nameOf(value)}: pass text, or leave it out`;
  if (value === "") return "reference is empty: pass text, or leave it out";
  return `reference has ${value.length} characters: the contract allows 128; pass a key of your own that is shorter`;
}

function faultOfText(value: unknown): string {
  if (value === undefined || value === "") return "is missing";
  return `is ${nameOf(value)}, not text`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a${typeof value === "object" ? "n" : ""} ${typeof value}`;
}

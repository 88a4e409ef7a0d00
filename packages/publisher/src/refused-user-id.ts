import { chatInsteadOfPerson } from "@intermission/ad-core/not-a-person";
import { isSharedAccount } from "@intermission/ad-core/shared-accounts";
import { textOfId } from "./read-user-id.ts";

// createAds loads this file when a user id cannot be right: the core stays small.

type UserIdFault = "chat" | "missing" | "no-id" | "inexact" | "username" | "not-digits";

/** Why `personIdOf` returned nothing for this value. */
export function refusedUserId(value: unknown): {
  readonly code: "NOT_A_PERSON" | "BAD_REQUEST";
  readonly message: string;
} {
  const text = textOfId(value);
  const fault = userIdFault(value, text);
  const expected = "pass the user's Telegram id, such as ctx.from.id";
  const messages = {
    chat: `user ${text} ${chatInsteadOfPerson}`,
    missing: `userId is missing: ${expected}; it is undefined for an update without a user`,
    "no-id": `userId is ${Array.isArray(value) ? "an array" : `of the type ${typeof value}`}: ${expected}`,
    inexact: `userId ${text} is a number that JavaScript cannot store exactly: pass its digits as text`,
    username: `userId ${JSON.stringify(text)} is a username: ${expected}`,
    "not-digits": `userId ${JSON.stringify(text)} is not a Telegram id, which is digits: ${expected}`,
  } satisfies Record<UserIdFault, string>;
  return { code: fault === "chat" ? "NOT_A_PERSON" : "BAD_REQUEST", message: messages[fault] };
}

function userIdFault(value: unknown, text: string): UserIdFault {
  if (["", "undefined", "null"].includes(text)) return (value ?? "") === "" || text !== "" ? "missing" : "no-id";
  if (isSharedAccount(text) || /^-[0-9]+$/.test(text)) return "chat";
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return "inexact";
  return text.startsWith("@") ? "username" : "not-digits";
}

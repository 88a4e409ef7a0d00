/**
 * Accounts of Telegram's own that it names as the sender of what many people write: GroupAnonymousBot (anonymous
 * administrators), Channel Bot (who writes as a channel), Telegram (forwarded posts of channels).
 */
const sharedAccounts = ["1087968824", "136817688", "777000"];

export function isSharedAccount(userId: string): boolean {
  return sharedAccounts.includes(userId);
}

type UserIdFault = "chat" | "missing" | "inexact" | "username" | "not-digits";

export type UserIdReading =
  | { readonly outcome: "user-id"; readonly userId: string }
  | { readonly outcome: "refused"; readonly code: "NOT_A_PERSON" | "BAD_REQUEST"; readonly message: string };

/**
 * Reads a Telegram user id, a number as Telegram sends it or its digits. An id that stands for many people is refused,
 * although the ad service accepts every id of the contract's form: a code for it would belong to nobody.
 */
export function readUserId(value: unknown): UserIdReading {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const fault = userIdFault(value, text);
  const expected = "pass the user's Telegram id, such as ctx.from.id";
  const messages = {
    chat: `user ${text} is a chat, or everybody who writes in the name of one: create the code for the person, after a command in the private chat`,
    missing: `userId is missing: ${expected}; it is undefined for an update without a user`,
    inexact: `userId ${text} is a number that JavaScript cannot store exactly: pass its digits as text`,
    username: `userId ${JSON.stringify(text)} is a username: ${expected}`,
    "not-digits": `userId ${JSON.stringify(text)} is not a Telegram id, which is digits: ${expected}`,
  } satisfies Record<UserIdFault, string>;
  if (fault === undefined) return { outcome: "user-id", userId: text };
  return { outcome: "refused", code: fault === "chat" ? "NOT_A_PERSON" : "BAD_REQUEST", message: messages[fault] };
}

function userIdFault(value: unknown, text: string): UserIdFault | undefined {
  if (text === "" || text === "undefined" || text === "null") return "missing";
  if (isSharedAccount(text) || /^-[0-9]+$/.test(text)) return "chat";
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return "inexact";
  if (text.startsWith("@")) return "username";
  return /^[1-9][0-9]{0,19}$/.test(text) ? undefined : "not-digits";
}

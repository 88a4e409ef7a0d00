/**
 * Accounts of Telegram's own that it names as the sender of what many people write: GroupAnonymousBot (anonymous
 * administrators), Channel Bot (who writes as a channel), Telegram (forwarded posts of channels).
 */
const sharedAccounts = ["1087968824", "136817688", "777000"];

export function isSharedAccount(userId: string): boolean {
  return sharedAccounts.includes(userId);
}

/** A Telegram user id: a number as Telegram sends it, a bigint as databases return it, or digits. */
export type UserId = string | number | bigint;

/**
 * The digits of a person's Telegram id. Undefined for what is none, and for an id that stands for many people, although the ad
 * service accepts every id of the contract's form: a code for it would belong to nobody. `refusedUserId` says why.
 */
export function personIdOf(value: unknown): string | undefined {
  const text = textOfId(value);
  const isExact = typeof value !== "number" || Number.isSafeInteger(value);
  return isExact && /^[1-9][0-9]{0,19}$/.test(text) && !isSharedAccount(text) ? text : undefined;
}

/** "" for what is no id. */
export function textOfId(value: unknown): string {
  return ["string", "number", "bigint"].includes(typeof value) ? String(value) : "";
}

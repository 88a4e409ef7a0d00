import { isSharedAccount } from "@intermission/ad-core/shared-accounts";

/** A Telegram user id: a number as Telegram sends it, a bigint as databases return it, or digits. */
export type UserId = string | number | bigint;

/**
 * The digits of a person's Telegram id. Undefined for other values, and for the accounts that Telegram shares among many users,
 * which the ad service would accept. `refusedUserId` says why.
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

import { createHmac, randomBytes } from "node:crypto";

/** Gives the text that stands for a user id in the log. Its own results stay as they are. */
export type UserNames = (userId: string) => string;

/** Two of a million users have the same with a chance of one in 500. */
const HASH_DIGITS = 12;
const HASHED = /^u_[0-9a-f]{12}$/;

/** User ids as short hashes. Their key is a secret, so that an id cannot be found by hashing all ids. Equal secrets give equal hashes. */
export function userNamesFrom(secret: Uint8Array | string): UserNames {
  const key = createHmac("sha256", secret).update("user ids in logs").digest();
  return (userId) => {
    if (HASHED.test(userId)) return userId;
    return `u_${createHmac("sha256", key).update(userId).digest("hex").slice(0, HASH_DIGITS)}`;
  };
}

/** LOG_USER_IDS. */
export type LoggedUserIds = "hashed" | "plain";

/** Without a secret the hashes are those of this process alone. */
export function userNames(setting: LoggedUserIds, secret: Uint8Array | string | undefined): UserNames {
  return setting === "plain" ? (userId) => userId : userNamesFrom(secret ?? randomBytes(32));
}

/**
 * Digits that stand alone: not parts of dates, UUIDs, names and decimals, nor ports and places in a stack, which have fewer.
 * A user id of five digits, of which there are a few, is only found in a field of its own.
 */
const MAY_BE_USER_ID =
  /(?<![\w.]|[0-9a-f]{4}-[0-9a-f]{4}-|[0-9a-f]{16}-)[1-9]\d{5,19}(?!\w|\.\d|-[0-9a-f]{4}-[0-9a-f]{4})/g;

/** A text whose numbers may be user ids, such as the message of a database or of another server. */
export function withoutUserIds(text: string, nameUser: UserNames): string {
  return text.replaceAll(MAY_BE_USER_ID, nameUser);
}

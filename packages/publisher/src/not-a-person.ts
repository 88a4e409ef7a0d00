/**
 * Accounts of Telegram's own that it names as the sender of what many people write: GroupAnonymousBot (anonymous
 * administrators), Channel Bot (who writes as a channel), Telegram (forwarded posts of channels).
 */
const sharedAccounts = ["1087968824", "136817688", "777000"];

export function isSharedAccount(userId: string): boolean {
  return sharedAccounts.includes(userId);
}

/**
 * Why a code for this user would belong to nobody, or to many people; undefined for a person, as far as an id can tell. The ad
 * service accepts every id of the contract's form.
 */
export function notAPerson(userId: string): string | undefined {
  if (!isSharedAccount(userId) && !userId.startsWith("-")) return undefined;
  return `user ${userId} is a chat, or everybody who writes in the name of one: create the code for the person, after a command in the private chat`;
}

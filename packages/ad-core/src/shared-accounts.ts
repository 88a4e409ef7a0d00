// Accounts of Telegram's own that it names as the sender of what many people write: GroupAnonymousBot (anonymous administrators),
// Channel Bot (who writes as a channel), Telegram (forwarded posts of channels). A code for one would belong to no person.
const sharedAccounts = ["1087968824", "136817688", "777000"];

export function isSharedAccount(userId: string): boolean {
  return sharedAccounts.includes(userId);
}

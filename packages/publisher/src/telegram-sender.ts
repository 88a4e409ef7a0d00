/** Accounts of Telegram's own that it names as the sender of what many people write. */
const sharedAccounts = new Map([
  ["1087968824", "GroupAnonymousBot, which stands for every anonymous administrator of a group"],
  ["136817688", "Channel Bot, which stands for everybody who writes as a channel"],
  ["777000", "Telegram's own account, which stands for the posts of channels"],
]);

/**
 * Why a code for this user would belong to nobody, or to many people; undefined for a person, as far as an id can tell. The ad
 * service accepts every id of the contract's form.
 */
export function notAPerson(userId: string): string | undefined {
  const account = userId.startsWith("-") ? "the id of a group or channel" : sharedAccounts.get(userId);
  return (
    account &&
    `user ${userId} is ${account}: create the code for the person, for example after a command in the private chat`
  );
}

/** The parts of a message, or of another update, that tell who sent it. */
export interface SenderFacts {
  readonly from?: { readonly id: number; readonly is_bot: boolean } | undefined;
  /** The chat in whose name the message was sent: a group for its anonymous administrators, a channel for its posts. */
  readonly sender_chat?: object | undefined;
  /** The bot that sent the message for a business account. */
  readonly sender_business_bot?: object | undefined;
}

/** Who sent an update. Only a person can earn: behind a `chat` are many people, and Telegram does not say which of them. */
export type Sender =
  | { readonly kind: "person"; readonly userId: string }
  | { readonly kind: "chat" }
  | { readonly kind: "bot" }
  | { readonly kind: "nobody" };

export function senderOf({ from, sender_chat, sender_business_bot }: SenderFacts): Sender {
  if (from === undefined) return { kind: "nobody" };
  const userId = String(from.id);
  if (sender_chat !== undefined || sharedAccounts.has(userId)) return { kind: "chat" };
  if (from.is_bot || sender_business_bot !== undefined) return { kind: "bot" };
  return { kind: "person", userId };
}

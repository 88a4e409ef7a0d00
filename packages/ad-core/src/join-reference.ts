const PREFIX = "join:";

/** The reference of codes whose view lets a user into this chat: one for each channel, whose earnings it counts. */
export function joinReference(chatId: string): string {
  return `${PREFIX}${chatId}`;
}

/** The chat that the view of a code lets its user into; undefined for any other reference. */
export function joinChat(reference: string): string | undefined {
  const chatId = reference.startsWith(PREFIX) ? reference.slice(PREFIX.length) : "";
  return /^-[1-9]\d{0,18}$/.test(chatId) ? chatId : undefined;
}

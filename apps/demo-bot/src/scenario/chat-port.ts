/** What the bot says. Its text alone is enough: a messenger shows as much of the rest as it can. */
export interface Reply {
  readonly text: string;
  readonly picture?: "garden" | "coins" | "seeds";
  /** A button that opens the mini-app, and beside it the link for those who cannot open one. */
  readonly ad?: {
    readonly label: string;
    readonly miniappUrl: string;
    readonly linkLabel: string;
    readonly directLink: string;
  };
  readonly suggestions?: readonly Suggestion[];
}

/** A button that says a command for the user. */
export interface Suggestion {
  readonly label: string;
  readonly command: string;
}

/** A messenger, as far as this bot needs one. The simulated chat is one; a real bot's library can be another. */
export interface ChatPort {
  /** Resolves when the messenger has taken the reply. A key that it knows is not said again. */
  send(userId: string, reply: Reply, key: string): Promise<void>;
  /** The user's language as an IETF tag, as far as the messenger has told. */
  languageOf(userId: string): string;
}

export interface IncomingMessage {
  /** The user's own number for it: a message that is delivered twice buys once. */
  readonly id: string;
  readonly userId: string;
  readonly text: string;
}

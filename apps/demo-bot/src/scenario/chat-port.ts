/** A message of the bot. The text alone is sufficient; a messenger shows the other fields if it can. */
export interface Reply {
  readonly text: string;
  readonly picture?: "garden" | "coins" | "seeds";
  /** A button that opens the mini-app, and a link for users who cannot open mini-apps. */
  readonly ad?: {
    readonly label: string;
    readonly miniappUrl: string;
    readonly linkLabel: string;
    readonly directLink: string;
  };
  /** Buttons under the message, as a bot that is not the demo's own sends them. */
  readonly buttons?: readonly ReplyButton[];
  /** Telegram opens the mini-app by itself, for a request to join a channel. */
  readonly opens?: { readonly miniappUrl: string; readonly joinQueryId: string };
  /** Replaces the buttons below the conversation; an empty list removes them. */
  readonly suggestions?: readonly Suggestion[];
  /** The suggestions disappear after a tap. */
  readonly isOneTime?: boolean;
  /** Shown in the empty input field while the suggestions are there. */
  readonly placeholder?: string;
  /** The offer that this message is about: its button can show that it was used. */
  readonly used?: { readonly code: string; readonly event: "rewarded" | "direct_link" };
}

/** A button that opens the mini-app, opens a page, or sends its data to the bot. */
type ReplyButton = { readonly label: string } & (
  | { readonly miniappUrl: string }
  | { readonly url: string }
  | { readonly data: string }
);

/** A button below the chat: it sends a command for the user, or opens the mini-app without telling it who the user is. */
export type Suggestion = {
  readonly label: string;
  /** Its row in a keyboard; without one, the buttons flow. */
  readonly row?: number;
} & ({ readonly command: string } | { readonly miniappUrl: string });

/** The messenger functions that this bot needs. The simulated chat implements them; a real bot library can, too. */
export interface ChatPort {
  /** Resolves when the messenger has accepted the reply. A key that was sent before is not sent again. */
  send(userId: string, reply: Reply, key: string): Promise<void>;
  /** The user's language as an IETF tag, as reported by the messenger. */
  languageOf(userId: string): string;
}

export interface IncomingMessage {
  /** Assigned by the sender: a message that is delivered twice buys once. */
  readonly id: string;
  readonly userId: string;
  readonly text: string;
}

/** The user tapped a button with data. */
export interface ButtonPress {
  readonly id: string;
  readonly userId: string;
  readonly data: string;
}

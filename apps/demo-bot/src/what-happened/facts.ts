/** A webhook of the bot, as the panel shows it. */
export interface ShownWebhook {
  readonly eventId: string | null;
  readonly event: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly receivedAt: string;
  /** The bytes that were signed; null if the event came from the event list. */
  readonly rawBody: string | null;
  readonly signatureHeader: string | null;
  /** The event's fields, where there are no bytes. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
}

export interface Facts {
  /** Newest first. */
  readonly receipts: readonly ShownWebhook[];
  /** The user's coins; null if this chat does not know them. */
  readonly balance: number | null;
}

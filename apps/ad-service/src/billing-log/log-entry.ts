import type { BilledKind } from "@intermission/operator-api/billing-log";

/** The entries of the ledger that a kind is summed in. */
export const ledgerKinds = {
  view: "charge",
  click: "charge",
  interstitial: "charge",
  task: "charge",
  refund: "refund",
} as const satisfies Record<BilledKind, "charge" | "refund">;

/** What an entry of the log says: each is the leaf of a tree, as text that never changes. */
export interface BilledEvent {
  kind: BilledKind;
  /** Of a refund that of the event whose price was given back. */
  eventId: string;
  campaignId: string;
  /** SHA-256 of the video's file, or of the address where there is no file; in hex. Null: the creative is not known. */
  creativeHash: string | null;
  /** When it was billed or refunded. */
  at: Date;
  /** When the video began; null where the view's row is gone. */
  startedAt: Date | null;
  /** Milliseconds of the video that were counted; null for what is not watched. */
  countedMs: number | null;
  /** Millionths of the currency, in digits. A refund gives back as much. */
  priceMicros: string;
  /** SHA-256 of the salt and Telegram's launch data, in hex; null where none was signed, as for a click. */
  launch: string | null;
}

/** One line of JSON with its keys in this order; those without a value are left out. Verifiers read it, and hash its bytes. */
export function entryText(event: BilledEvent): string {
  return JSON.stringify({
    kind: event.kind,
    event: event.eventId,
    campaign: event.campaignId,
    creative: event.creativeHash ?? undefined,
    at: event.at.toISOString(),
    start: event.startedAt?.toISOString(),
    ms: event.countedMs ?? undefined,
    price: event.priceMicros,
    launch: event.launch ?? undefined,
  });
}

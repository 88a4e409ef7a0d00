import type { Endpoint } from "../ad-service/operator-client.ts";
import { type AttemptSources, readAttempts, type ShownAttempt } from "./attempts.ts";

/** A webhook of the bot, as the panel shows it. */
export interface ShownWebhook {
  readonly eventId: string | null;
  readonly event: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly receivedAt: string;
  /** What the ledger paid; null where nothing was recorded. */
  readonly amount: number | null;
  /** The bytes that were signed; null if the event came from the event list. */
  readonly rawBody: string | null;
  readonly signatureHeader: string | null;
  /** The event's fields, where there are no bytes. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
}

export interface Facts {
  /** Newest first. */
  readonly receipts: readonly ShownWebhook[];
  /** Of these webhooks, oldest first. */
  readonly attempts: readonly ShownAttempt[];
  /** Whether the bot's endpoint gets events, and why not. */
  readonly endpoint: Endpoint;
  /** The user's coins; null if this chat does not know them. */
  readonly balance: number | null;
}

export interface FactSources extends AttemptSources {
  /** The latest events of the bot, as the ad service lists them, newest first. */
  readonly events: () => Promise<readonly ShownWebhook[]>;
  readonly endpoint: () => Promise<Endpoint>;
  /** What the publisher's ledger made of them; undefined where the demo has no ledger. */
  readonly ledger: ((userId: string) => Promise<{ receipts: readonly ShownWebhook[]; balance: number }>) | undefined;
}

const MAX_SHOWN = 10;

/** The bot's latest events: how each was sent, and what the ledger made of those that it recorded. */
export async function readFacts(sources: FactSources, userId: string): Promise<Facts> {
  const [events, endpoint, ledger] = await Promise.all([
    sources.events(),
    sources.endpoint(),
    sources.ledger?.(userId),
  ]);
  const recorded = ledger?.receipts ?? [];
  const isRecorded = new Set(recorded.map(({ eventId }) => eventId));
  const receipts = [...recorded, ...events.filter(({ eventId }) => !isRecorded.has(eventId))]
    .toSorted((a, b) => Date.parse(b.receivedAt) - Date.parse(a.receivedAt))
    .slice(0, MAX_SHOWN);
  const eventIds = receipts.flatMap(({ eventId }) => (eventId === null ? [] : [eventId]));
  const deliveries = await readAttempts(sources, eventIds);
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  return { receipts, attempts, endpoint, balance: ledger?.balance ?? null };
}

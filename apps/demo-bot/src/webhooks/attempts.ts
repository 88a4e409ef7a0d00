import type { Ads } from "@intermission/publisher";
import type { Delivery, Operator } from "../ad-service/operator-client.ts";
import type { ReceivedWebhook, WebhookReceiver } from "./receiver.ts";

/** One attempt to deliver an event: as the ad service logged it and, where the demo's receiver got it, as it arrived. */
export interface ShownAttempt {
  readonly eventId: string;
  readonly attempt: number;
  readonly at: string;
  readonly url: string;
  /** Null while it is under way. */
  readonly ms: number | null;
  readonly status: number | null;
  readonly errorClass: string | null;
  readonly answer: string | null;
  /** What to check, in English, as the bot's own token reads it; null after a 2xx and while it is under way. */
  readonly advice: string | null;
  readonly nextAt: string | null;
  readonly isReplay: boolean;
  readonly body: string;
  /** Null for a receiver that is not the demo's. */
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly isVerified: boolean } | null;
  readonly receivedAt: string | null;
}

export interface AttemptSources {
  readonly operator: Pick<Operator, "delivery">;
  readonly ads: Pick<Ads, "attempts">;
  readonly receiver: Pick<WebhookReceiver, "received"> | undefined;
}

export interface EventAttempts {
  readonly eventId: string;
  /** When the ad service recorded the event. */
  readonly createdAt: string;
  readonly attempts: readonly ShownAttempt[];
}

/** The attempts of these events, oldest first. */
export async function readAttempts(sources: AttemptSources, eventIds: readonly string[]): Promise<EventAttempts[]> {
  const read = await Promise.all(eventIds.map((eventId) => readEventAttempts(sources, eventId)));
  return read.filter((attempts) => attempts !== undefined);
}

async function readEventAttempts({ operator, ads, receiver }: AttemptSources, eventId: string) {
  const delivery = await operator.delivery(eventId);
  if (delivery === undefined) return undefined;
  // Most events are delivered at once, and need no advice and no further request of the bot's quota.
  const hasFailed = delivery.log.some(({ status }) => status === null || status < 200 || status > 299);
  const known = hasFailed ? (await ads.attempts(eventId)).attempts : [];
  const adviceOf = new Map(known.map(({ attempt, advice }) => [attempt, advice]));
  return attemptsOf(delivery, receiver?.received ?? [], adviceOf);
}

function attemptsOf(
  delivery: Delivery,
  received: readonly ReceivedWebhook[],
  adviceOf: ReadonlyMap<number, string | undefined>,
): EventAttempts {
  const { eventId, createdAt, body, log } = delivery;
  const arrived = received.filter((webhook) => webhook.eventId === eventId);
  const logged = log.map(({ startedAt: at, totalMs: ms, responseText: answer, ...others }) => ({
    eventId,
    at,
    ms,
    answer,
    body,
    ...others,
    advice: adviceOf.get(others.attempt) ?? null,
    ...arrivalOf(arrived.find(({ attempt }) => attempt === others.attempt)),
  }));
  // An attempt is logged when it ends. Until then only the receiver knows of it.
  const underWay = arrived
    .filter(({ attempt, answer }) => answer === undefined && !log.some((known) => known.attempt === attempt))
    .map((webhook) => ({
      eventId,
      attempt: webhook.attempt,
      at: webhook.at,
      url: "",
      ms: null,
      status: null,
      errorClass: null,
      answer: null,
      advice: null,
      nextAt: null,
      isReplay: false,
      body: webhook.body,
      ...arrivalOf(webhook),
    }));
  return { eventId, createdAt, attempts: [...logged, ...underWay] };
}

function arrivalOf(webhook: ReceivedWebhook | undefined): Pick<ShownAttempt, "request" | "receivedAt"> {
  if (webhook === undefined) return { request: null, receivedAt: null };
  const { headers, isVerified, at } = webhook;
  return { request: { headers, isVerified }, receivedAt: at };
}

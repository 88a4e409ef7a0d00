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
  readonly nextAt: string | null;
  readonly isReplay: boolean;
  readonly body: string;
  /** Null for a receiver that is not the demo's. */
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly isVerified: boolean } | null;
  readonly receivedAt: string | null;
}

export interface AttemptSources {
  readonly operator: Pick<Operator, "delivery">;
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
  const deliveries = await Promise.all(eventIds.map((eventId) => sources.operator.delivery(eventId)));
  return deliveries.flatMap((delivery) =>
    delivery === undefined ? [] : [attemptsOf(delivery, sources.receiver?.received ?? [])],
  );
}

function attemptsOf(delivery: Delivery, received: readonly ReceivedWebhook[]): EventAttempts {
  const { eventId, createdAt, body, log } = delivery;
  const arrived = received.filter((webhook) => webhook.eventId === eventId);
  const logged = log.map(({ startedAt: at, totalMs: ms, responseText: answer, ...others }) => ({
    ...{ eventId, at, ms, answer, body, ...others },
    ...arrivalOf(arrived.find(({ attempt }) => attempt === others.attempt)),
  }));
  // An attempt is logged when it ends. Until then only the receiver knows of it.
  const underWay = arrived
    .filter(({ attempt, answer }) => answer === undefined && !log.some((known) => known.attempt === attempt))
    .map((webhook) => ({
      ...{ eventId, attempt: webhook.attempt, at: webhook.at, url: "", ms: null, status: null, errorClass: null },
      ...{ answer: null, nextAt: null, isReplay: false, body: webhook.body, ...arrivalOf(webhook) },
    }));
  return { eventId, createdAt, attempts: [...logged, ...underWay] };
}

function arrivalOf(webhook: ReceivedWebhook | undefined): Pick<ShownAttempt, "request" | "receivedAt"> {
  if (webhook === undefined) return { request: null, receivedAt: null };
  const { headers, isVerified, at } = webhook;
  return { request: { headers, isVerified }, receivedAt: at };
}

import type { StatusResponse } from "@intermission/ad-core/player-api";
import type { PublisherStatus } from "../publisher-api.ts";

type RefusalReason = Extract<PublisherStatus, { outcome: "refused" }>["reason"];

/** The latest responses of both parties; `hasPublisher` if the publisher's API can be queried. */
export interface KnownOfReward {
  readonly service: StatusResponse | undefined;
  readonly publisher: PublisherStatus | undefined;
  readonly hasPublisher: boolean;
}

/** What the user sees about the reward. See `isFinal` for the final kinds. */
export type Reward =
  | { readonly kind: "checking" }
  | { readonly kind: "on-its-way" }
  /** The ad service has waited long for the bot, or the bot's ledger for the view. */
  | { readonly kind: "delayed" }
  | { readonly kind: "credited"; readonly amount: number; readonly balance: number }
  /** The last known state if the bot has no API. */
  | { readonly kind: "delivered" }
  | { readonly kind: "refused"; readonly reason: RefusalReason }
  | { readonly kind: "undelivered" }
  /** The view is suspicious: `held` for the ad service's operator to decide, or refused without a reward. */
  | { readonly kind: "held" }
  | { readonly kind: "view-refused" }
  | { readonly kind: "not-counted" };

const USUALLY_DONE_MS = 20_000;
/** A close may arrive before the reports that complete the view; the service waits this long for them. */
const CLOSE_WAITS_MS = 30_000;

/**
 * Since when the service answers: an outage also delays the reports that would complete the view, so what the viewer waits
 * for begins again after it. What has taken its whole time is decided, and stays so.
 */
export function answersSince(sinceMs: number | undefined, nowMs: number, hasAnswered: boolean): number | undefined {
  if (hasAnswered) return sinceMs ?? nowMs;
  return sinceMs !== undefined && nowMs - sinceMs > CLOSE_WAITS_MS ? sinceMs : undefined;
}

/** Merges the responses of both parties. The publisher's ledger takes precedence; the ad service knows what is in progress. */
export function describeReward(known: KnownOfReward & { waitedMs: number }): Reward {
  const { service, publisher, waitedMs } = known;
  const event = service?.event;
  if (publisher?.outcome === "credited") {
    return { kind: "credited", amount: publisher.amount, balance: publisher.balance };
  }
  if (publisher?.outcome === "refused") return { kind: "refused", reason: publisher.reason };
  if (service?.review) return { kind: service.review === "held" ? "held" : "view-refused" };
  if (!event) {
    // A watched and closed view may be waiting for the bot's cooldown; it is paid afterwards.
    if (service?.state === "watched" && waitedMs > USUALLY_DONE_MS) return { kind: "delayed" };
    const isUnfinished = service?.state === "opened" || service?.state === "playing";
    return isUnfinished && waitedMs > CLOSE_WAITS_MS ? { kind: "not-counted" } : { kind: "checking" };
  }
  if (event.delivery === "failed") return { kind: "undelivered" };
  if (event.delivery === "delivered" && !known.hasPublisher) return { kind: "delivered" };
  if (event.delivery === "delayed" || waitedMs > USUALLY_DONE_MS) return { kind: "delayed" };
  return { kind: "on-its-way" };
}

export function isFinal(reward: Reward): boolean {
  return ["credited", "delivered", "refused", "view-refused", "not-counted"].includes(reward.kind);
}

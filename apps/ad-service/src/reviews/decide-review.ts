import { type Charge, type EventWorth, worthOf } from "../campaigns/event-worth.ts";
import type { RefundOutcome } from "../campaigns/refund-charge.ts";

/** The facts for an operator's decision about a suspicious view or click. `State`: its stored state. */
export interface ReviewFacts<State extends string> extends Readonly<Charge> {
  readonly state: State;
  readonly isTest: boolean;
  /** The priced event that it earned. */
  readonly charge: { readonly eventId: string; readonly isRefunded: boolean } | null;
}

export interface NotHeld<State extends string> {
  readonly outcome: "not-held";
  readonly state: State;
}

/** It earns now, at its campaign's present price. It counted towards its viewer's limits when it was held. */
export type ReleaseDecision<State extends string> =
  | { readonly outcome: "release"; readonly worth: EventWorth }
  | NotHeld<State>;

export function decideRelease<State extends string>(facts: ReviewFacts<State>): ReleaseDecision<State> {
  const { state } = facts;
  return state === "held" ? { outcome: "release", worth: worthOf(facts, facts) } : { outcome: "not-held", state };
}

/** It never earns. */
export type RefusalDecision<State extends string> = { readonly outcome: "refuse" } | NotHeld<State>;

export function decideRefusal<State extends string>({ state }: { readonly state: State }): RefusalDecision<State> {
  return state === "held" ? { outcome: "refuse" } : { outcome: "not-held", state };
}

/** A charge is refunded once, whatever became of its view or click. */
export type RefundDecision =
  | { readonly outcome: "refund"; readonly eventId: string }
  | Exclude<RefundOutcome, { outcome: "refunded" }>;

export function decideRefund({ charge }: Pick<ReviewFacts<string>, "charge">): RefundDecision {
  if (charge === null) return { outcome: "not-charged" };
  return charge.isRefunded ? { outcome: "refunded-before" } : { outcome: "refund", eventId: charge.eventId };
}

/** Each further try means that another request changed the row between its reading and its writing. */
const MAX_TRIES = 5;

/**
 * Runs `decide`, which reads, decides and writes, until nothing has changed meanwhile. It answers "changed" where its write
 * found other facts than those it read, and has written nothing then.
 */
export async function untilUnchanged<Outcome>(decide: () => Promise<Outcome | "changed">): Promise<Outcome> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const outcome = await decide();
    if (outcome !== "changed") return outcome;
  }
  throw new Error(`what an operator decides about has changed ${MAX_TRIES} times while it was decided`);
}

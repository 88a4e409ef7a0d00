import type { ViewReview } from "@intermission/ad-core/player-api";
import type { CloseReason } from "@intermission/operator-api/reviews";
import { currentTraceparent } from "@intermission/server/trace-context";
import { findBot } from "../bots/bots.ts";
import type { AdView } from "./ad-view.ts";
import { framesOfCreative } from "./expected-frames.ts";
import type { ViewChange, ViewEnding } from "./view-change.ts";
import { noSignals, suspicionsOf } from "./viewing-signals.ts";
import type { Views } from "./views.ts";

/** A watched video sends a heartbeat every 5 s: three missed ones mean that the page is gone. */
export const SILENCE_MS = 15_000;

/** When a watched view is closed if no further heartbeat arrives. */
export function silentFrom({ deadline }: AdView, lastReportAt: Date): Date {
  return new Date(1 + Math.min(lastReportAt.getTime() + SILENCE_MS, deadline.getTime()));
}

/** The end of a watched view: it is paid, held or refused, or waits for the cooldown. */
export async function endingOf(
  views: Views,
  view: AdView,
  { reason, eventId, now }: { reason: CloseReason; eventId: string; now: Date },
): Promise<ViewChange> {
  const after = { ...view, closeReason: reason };
  return {
    before: view,
    after,
    isStart: false,
    milestones: [],
    now,
    ending: await fateOf(views, after, eventId),
  };
}

/**
 * A suspicious view is paid, held or refused, by its bot's setting. A tester's view is free of charge and always paid. An
 * interstitial that was charged stays so.
 */
export async function fateOf(views: Views, view: AdView, eventId: string): Promise<ViewEnding> {
  const signals = view.signals ?? noSignals;
  const isCounted = signals.countedMs > 0 && !view.isVast;
  const suspicions = suspicionsOf(signals, isCounted ? await framesOfCreative(views, view.creativeId) : undefined);
  const isJudged = suspicions.length > 0 && !view.isTest && view.chargedAt === null;
  const fate = isJudged ? ((await findBot(views.bots, view.botId))?.suspiciousViews ?? "pay") : "pay";
  return { fate, suspicions, eventId, traceparent: currentTraceparent() };
}

const reviewOfFate = { pay: undefined, hold: "held", refuse: "refused" } as const;

/** So that a player promises no reward for a view that looks suspicious. */
export async function expectedReview(views: Views, view: AdView): Promise<ViewReview | undefined> {
  return view.state === "watched" ? reviewOfFate[(await fateOf(views, view, "")).fate] : undefined;
}

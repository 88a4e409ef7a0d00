import { type CommitGroup, groupCommits, inRounds } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { BoundedCache } from "@intermission/server/bounded-cache";
import type { Turns } from "@intermission/server/in-turn";
import type { FastifyBaseLogger } from "fastify";
import type { Bots } from "../bots/bots.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { enqueueTrackerCalls } from "../vast/trackers.ts";
import type { TrackedEvent } from "../vast/vast-ad.ts";
import { isComplete } from "./accept-progress.ts";
import type { AdView } from "./ad-view.ts";
import { type SeenVideos, seenVideos } from "./expected-frames.ts";
import { recordImpression } from "./record-impression.ts";
import { storeChanges, storeProgress } from "./store-changes.ts";
import { type ChangeOutcome, isProgressOnly, milestoneEvents, type ViewChange } from "./view-change.ts";

/** Views that are remembered while they are watched, at some 2 kB each; the cache keeps at least half as many. */
const MAX_REMEMBERED = 40_000;

/** The views of a store, with those that this node remembers. */
export interface Views {
  readonly database: Database;
  readonly bots: Bots;
  readonly deliveries: Deliveries;
  /**
   * Views as this node last stored them, so that the next report needs no read. If another node has changed one since, a
   * change of it results in "changed".
   */
  readonly remembered: BoundedCache<string, AdView>;
  /** By creative. */
  readonly seen: SeenVideos;
  /** The calls of one view run one after another on this node. */
  readonly turns: Turns;
  /** Changes that are progress only, many in one statement; and all others. */
  readonly progress: CommitGroup<ViewChange, ChangeOutcome>;
  readonly others: CommitGroup<ViewChange, ChangeOutcome>;
  readonly log: Pick<FastifyBaseLogger, "info" | "debug">;
}

export function openViews({ bots, deliveries, log }: Pick<Views, "bots" | "deliveries" | "log">): Views {
  const { database } = bots;
  return {
    database,
    bots,
    deliveries,
    log,
    remembered: new BoundedCache(MAX_REMEMBERED),
    seen: seenVideos(),
    turns: new Map(),
    progress: groupCommits({ name: "progress of views", run: (batch) => storeProgress(database, batch) }),
    others: groupCommits({ name: "changes of views", run: (batch) => storeInRounds({ database, deliveries }, batch) }),
  };
}

export function rememberView({ remembered }: Views, view: AdView): void {
  const { viewId, state } = view;
  if (state === "opened" || state === "playing" || state === "watched") remembered.set(viewId, view);
  else remembered.delete(viewId);
}

const LIVE_WITHIN_MS = 30_000;

/** Views that this node plays: an abandoned one is remembered longer, and reports nothing. */
export function countLiveViews({ remembered }: Pick<Views, "remembered">, now: Date): number {
  let live = 0;
  for (const { state, lastReportAt } of remembered.values())
    if (state === "playing" && lastReportAt !== null && now.getTime() - lastReportAt.getTime() < LIVE_WITHIN_MS) live++;
  return live;
}

/**
 * Stores the change of a view. Resolves after the commit. Rejects if it is unknown whether there was a commit; a repeated
 * change is then "changed".
 */
export async function changeView(views: Views, change: ViewChange): Promise<ChangeOutcome> {
  const { database, deliveries, remembered } = views;
  const { viewId, isVast, isTest } = change.before;
  const isTracked = isVast && !isTest && hasTracked(change);
  const group = isProgressOnly(change) ? views.progress : views.others;
  let isStored = false;
  try {
    const changed = await (isTracked ? storeWithTrackers(database, change) : group.submit(change));
    if (isTracked) deliveries.wake();
    isStored = changed.outcome === "stored";
    if (changed.outcome === "stored") {
      rememberView(views, changed.view);
      logEnd(views, change, changed);
    }
    return changed;
  } finally {
    // The row differs from what is remembered, or its state is unknown.
    if (!isStored) remembered.delete(viewId);
  }
}

/** Whether a tracker may have to be called: of a milestone, of what the viewer does, of a progress, or of the close. */
function hasTracked({ before, after, milestones, interactions = [], ending }: ViewChange): boolean {
  const isProgress = after.acceptedMs > before.acceptedMs;
  return milestones.length > 0 || interactions.length > 0 || isProgress || ending !== undefined;
}

const endings = {
  charged: "an interstitial is charged",
  rewarded: "a view is paid",
  held: "a view is held for review",
  refused: "a view is refused",
};
const isEnd = (state: string): state is keyof typeof endings => Object.hasOwn(endings, state);

/** One line for the end of a view, with the ids that its event, its delivery and the publisher's ledger have. */
function logEnd(
  { log }: Views,
  { before, ending, charge }: ViewChange,
  { view, limitReason }: Extract<ChangeOutcome, { outcome: "stored" }>,
): void {
  const { botId, userId, viewId, campaignId, creativeId, isTest } = view;
  const judged = charge ?? ending;
  const state = charge ? "charged" : view.state;
  if (judged === undefined || before.chargedAt !== null || !isEnd(state)) return;
  const { suspicions, eventId } = judged;
  log.info(
    {
      botId,
      userId,
      sessionId: viewId,
      campaignId,
      creativeId,
      ...((state === "rewarded" || state === "charged") && { eventId }),
      ...(limitReason && { reason: limitReason }),
      ...(suspicions.length > 0 && { suspicions }),
      ...(isTest && { isTest }),
    },
    endings[state],
  );
}

async function storeInRounds(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  batch: readonly ViewChange[],
): Promise<ChangeOutcome[]> {
  const outcomes = new Map<ViewChange, ChangeOutcome>();
  // Two views of one viewer in one statement would both be judged by the state before either.
  for (const round of inRounds(batch, viewerOf)) {
    const maxEvents = round.filter(({ ending, charge }) => (charge ?? ending)?.fate === "pay").length;
    const results = await deliveries.sendNew(maxEvents, (slots) => storeChanges(database, round, slots));
    for (const [index, change] of round.entries()) outcomes.set(change, results[index] ?? { outcome: "changed" });
  }
  return batch.map((change) => outcomes.get(change) ?? { outcome: "changed" });
}

/** The tracker calls of an ad commit together with the change that they report. */
function storeWithTrackers(database: Database, change: ViewChange): Promise<ChangeOutcome> {
  return database.transaction(async (tx) => {
    const [recorded] = (await storeChanges(tx, [change], 0)).result;
    if (recorded?.outcome !== "stored") return recorded ?? { outcome: "changed" };
    const { after, ending, now } = change;
    const playheadMs = after.acceptedMs;
    const isPlayback = after.startedAt !== null;
    const ad = await enqueueTrackerCalls(tx, after, { events: milestoneEvents(change), playheadMs, isPlayback, now });
    if (ad?.bought && change.milestones.includes("start")) await recordImpression(tx, { ...after, ...ad.bought, now });
    if (ending) await enqueueTrackerCalls(tx, after, { events: endEvents(after), playheadMs: endOf(after), now });
    return recorded;
  });
}

/** An interstitial may be left before its end. */
const isLeft = ({ format, progress, durationMs }: AdView): boolean =>
  format === "interstitial" && !isComplete(progress.covered, durationMs);
const endOf = (view: AdView): number => (isLeft(view) ? view.acceptedMs : view.durationMs);
const endEvents = (view: AdView): TrackedEvent[] =>
  isLeft(view) && view.closeReason === "tap" ? ["skip", "close"] : ["close"];

const viewerOf = ({ before: { botId, userId } }: ViewChange) => `${botId} ${userId}`;

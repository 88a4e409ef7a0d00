import type { NextOpening } from "@intermission/ad-core/player-api";
import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { enqueueTrackerCalls } from "../vast/trackers.ts";
import type { VastErrorCode } from "../vast/vast-ad.ts";
import { type AdView, lockView } from "./ad-view.ts";
import { isSessionToken } from "./session-token.ts";

export type RecordFaultOutcome =
  | { outcome: "recorded"; nextOpening: NextOpening }
  | { outcome: "unknown" }
  | { outcome: "superseded" }
  | { outcome: "over" };

/** A media host may be down for only a moment: for this long the code is opened with another ad, then the ad may return. */
const MAX_FAULT_AGE_MS = 10 * 60_000;

/** A picture that froze at the start has played some frames: another ad costs the viewer less than this one's "Try again". */
const MIN_KEPT_MS = 1000;

/** VAST 4.2, 2.3.6.3. */
const errorCodes = {
  "not-found": 401,
  timeout: 402,
  unsupported: 403,
  "not-displayed": 405,
  "too-short": 202,
  other: 400,
} satisfies Record<PlaybackFault, VastErrorCode>;

const store = statement<never>(
  "views.store-fault",
  `with broken as (
    update views set fault = $3, fault_at = $4, version = version + 1 where bot_id = $1 and view_id = $2 and code = $6
    returning bot_id, campaign_id, creative_id, is_test, audience
  )
  insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, reason, audience, occurred_at)
  select bot_id, campaign_id, creative_id, 'fault', $3, audience, $4 from broken where $5::boolean and not is_test`,
);

/**
 * Records that a view's player gave up on its video. The fault is counted, and reported to the ad's `Error` trackers, once
 * per view. It earns nothing; if less than a second was accepted yet, the code's next opening chooses another ad.
 */
export async function recordFault(
  database: Database,
  call: { botId: string; viewId: string; token: string; fault: PlaybackFault; now: Date },
): Promise<RecordFaultOutcome> {
  return database.transaction(async (tx) => {
    const view = await lockView(tx, call);
    if (!view) return { outcome: "unknown" };
    if (!isSessionToken(call.token, view.tokenHash)) return { outcome: view.openings > 1 ? "superseded" : "unknown" };
    // A watched view did play, so a late fault is irrelevant.
    if (view.state !== "opened" && view.state !== "playing") return { outcome: "recorded", nextOpening: "same-ad" };
    if (call.now > view.deadline) return { outcome: "over" };
    await storeFault(tx, view, call);
    const isAnother = isBroken({ ...view, fault: call.fault, faultAt: call.now }, call.now);
    return { outcome: "recorded", nextOpening: isAnother ? "another-ad" : "same-ad" };
  });
}

async function storeFault(
  tx: Transaction,
  view: AdView,
  { fault, now }: { fault: PlaybackFault; now: Date },
): Promise<void> {
  const isFirst = view.fault === null;
  await tx.run(store, [view.botId, view.viewId, fault, now, isFirst, view.code]);
  if (!isFirst || !view.isVast || view.isTest) return;
  const errorCode = errorCodes[fault];
  await enqueueTrackerCalls(tx, view, { events: ["error"], playheadMs: view.acceptedMs, errorCode, now });
}

/** Faults of the file itself: they are permanent, however much of it was watched. */
const lastingFaults: readonly (PlaybackFault | null)[] = ["unsupported", "not-displayed", "too-short"];

export function isFaultLasting({ fault }: Pick<AdView, "fault">): boolean {
  return lastingFaults.includes(fault);
}

/**
 * Whether the player has given up the file for good. Reports that still arrive earn nothing: a view that was reported as not
 * displayed must not be charged. The ad may return later, as its file may be replaced.
 */
export function isFailedForGood(view: Pick<AdView, "state" | "acceptedMs" | "fault" | "faultAt">, now: Date): boolean {
  return isFaultLasting(view) && isBroken(view, now);
}

/** Whether the video failed recently and next to nothing of it was watched, or the rest can never be watched. */
export function isBroken(
  { state, acceptedMs, fault, faultAt }: Pick<AdView, "state" | "acceptedMs" | "fault" | "faultAt">,
  now: Date,
): boolean {
  const isUnfinished = state === "opened" || state === "playing";
  const isWorthKeeping = acceptedMs >= MIN_KEPT_MS && !isFaultLasting({ fault });
  return isUnfinished && !isWorthKeeping && faultAt !== null && now.getTime() - faultAt.getTime() < MAX_FAULT_AGE_MS;
}

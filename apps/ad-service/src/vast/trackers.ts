import { setTimeout as wait } from "node:timers/promises";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import { headersFor } from "./fetch-document.ts";
import { fillMacros, type Macros } from "./fill-macros.ts";
import type { ErrorCall } from "./unwrap-tag.ts";
import type { TrackedEvent, VastAd, VastErrorCode } from "./vast-ad.ts";

const read = statement<{ ad: VastAd }>(
  "vast.read-ad",
  "select ad from vast_ads where bot_id = $1 and view_id = $2 and opened_at = $3",
);

interface OpenedView {
  botId: string;
  viewId: string;
  openedAt: Date;
}

/**
 * The ad that a tag returned when the view began; the view keeps it, however often it is reopened. Undefined once it is no longer
 * kept: an old view stays longer if others of its week wait for a decision.
 */
export async function readVastAd(
  database: Transaction,
  { botId, viewId, openedAt }: OpenedView,
): Promise<VastAd | undefined> {
  const [found] = await database.run(read, [botId, viewId, openedAt]);
  return found?.ad;
}

const insert = statement<never>(
  "vast.enqueue-calls",
  `insert into tracker_calls (bot_id, view_id, opened_at, event, position, url, user_agent, due_at)
   select $1, $2, $8, * from (
     select event, position, url, $6::text, $7::timestamptz
     from unnest($3::text[], $4::integer[], $5::text[]) as calls(event, position, url)
   ) as calls
   on conflict do nothing`,
);

interface Call {
  event: TrackedEvent | "progress" | "loss";
  position: number;
  url: string;
}

interface TrackedMoment {
  events: TrackedEvent[];
  playheadMs: number;
  /** Playback has reached the playhead: trackers of a progress up to there are called. */
  isPlayback?: boolean;
  clickId?: string;
  errorCode?: VastErrorCode;
  now: Date;
}

/**
 * Enqueues calls of an ad's trackers for events of its view, in the transaction that records these events: each call
 * once, even if an event is reported again. Returns the ad, where there may be something to call.
 */
export async function enqueueTrackerCalls(
  tx: Transaction,
  view: OpenedView,
  { events, playheadMs, isPlayback = false, clickId, errorCode, now }: TrackedMoment,
): Promise<VastAd | undefined> {
  if (events.length === 0 && !isPlayback) return undefined;
  const ad = await readVastAd(tx, view);
  if (!ad) return undefined;
  const { trackers, progressTrackers = [], named, mediaUrl, userAgent } = ad;
  const macros: Macros = {
    now,
    chance: Math.random(),
    viewId: view.viewId,
    userAgent,
    assetUri: mediaUrl,
    playheadMs,
    ...named,
    ...(clickId !== undefined && { clickId }),
    ...(errorCode !== undefined && { errorCode }),
  };
  const calls = events.flatMap((event): Call[] =>
    (trackers[event] ?? []).map((url, position) => ({ event, position, url: fillMacros(url, macros) })),
  );
  // Those of earlier reports are there already, and stay as they are.
  for (const [position, { offsetMs, url }] of isPlayback ? progressTrackers.entries() : [])
    if (offsetMs <= playheadMs) calls.push({ event: "progress", position, url: fillMacros(url, macros) });
  const { botId, viewId, openedAt } = view;
  await insertCalls(tx, { botId, viewId, openedAt, userAgent, now }, calls);
  return ad;
}

/** Enqueues the notices of bids that did not win. */
export async function enqueueLossCalls(
  tx: Pick<Transaction, "run">,
  { botId, userAgent, now }: { botId: string; userAgent: string; now: Date },
  addresses: readonly string[],
): Promise<void> {
  const calls = addresses.map((url, position): Call => ({ event: "loss", position, url }));
  await insertCalls(tx, { botId, viewId: null, openedAt: now, userAgent, now }, calls);
}

/** Enqueues what tells a buyer that it owes for a card, once. */
export async function enqueueNotice(
  tx: Transaction,
  { url, ...of }: { botId: string; viewId: string; openedAt: Date; url: string; now: Date },
): Promise<void> {
  await insertCalls(tx, { ...of, userAgent: "" }, [{ event: "billing", position: 0, url }]);
}

/** Enqueues the reports to the `Error` URLs of why a tag returned no ad. */
export async function enqueueErrorCalls(
  tx: Transaction,
  { botId, userAgent, now }: { botId: string; userAgent: string; now: Date },
  errors: readonly ErrorCall[],
): Promise<void> {
  const calls = errors.flatMap(({ code, addresses }) =>
    addresses.map((url) => fillMacros(url, { now, chance: Math.random(), userAgent, errorCode: code })),
  );
  const numbered = calls.map((url, position): Call => ({ event: "error", position, url }));
  await insertCalls(tx, { botId, viewId: null, openedAt: now, userAgent, now }, numbered);
}

async function insertCalls(
  tx: Pick<Transaction, "run">,
  call: { botId: string; viewId: string | null; openedAt: Date; userAgent: string; now: Date },
  calls: readonly Call[],
): Promise<void> {
  if (calls.length === 0) return;
  const { botId, viewId, openedAt, userAgent, now } = call;
  const columns = [calls.map(({ event }) => event), calls.map(({ position }) => position), calls.map(({ url }) => url)];
  await tx.run(insert, [botId, viewId, ...columns, userAgent, now, openedAt]);
}

interface ClaimedCall {
  callId: number;
  openedAt: Date;
  event: Call["event"];
  url: string;
  userAgent: string;
  attempts: number;
}

interface CallTrackersDeps {
  database: Database;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: Pick<FastifyBaseLogger, "error">;
  /** Counts each call that was made. */
  count?: (outcome: CallOutcome | "retried") => void;
  now?: () => Date;
  /** Aborts when this node stops: what could not be recorded until then is given up. */
  stopping?: AbortSignal;
}

/** Wait after each failed attempt but the last; also the lease, so that calls left behind by a crash are retried. */
const WAIT_SECONDS = 60;
const MAX_ATTEMPTS = 3;
/** What tells a buyer that it owes is repeated for a minute, sooner than what others count. */
const notices: readonly Call["event"][] = ["win", "billing"];
const NOTICE_WAIT_SECONDS = 10;
const MAX_NOTICE_ATTEMPTS = 7;
const MAX_IN_FLIGHT = 64;
/** With its redirects. */
const CALL_MS = 5000;
const MAX_REDIRECTS = 5;
const EVERY_MS = 1000;
/** More often than any node looks for calls that are due: what was called is recorded before it is due again. */
const RECORD_EVERY_MS = 200;

const claim = statement<ClaimedCall>(
  "vast.claim-calls",
  `update tracker_calls set attempts = attempts + 1, due_at = $1::timestamptz + make_interval(secs => ${WAIT_SECONDS})
   where (call_id, opened_at) in (
     select call_id, opened_at from tracker_calls where finished_at is null and due_at <= $1
     order by due_at limit $2 for update skip locked
   )
   returning call_id as "callId", opened_at as "openedAt", event, url, user_agent as "userAgent", attempts`,
);
const finish = statement<never>(
  "vast.finish-call",
  "update tracker_calls set finished_at = $3, outcome = $4 where call_id = $1 and opened_at = $2 and outcome is null",
);

const waitLess = statement<never>(
  "vast.wait-less",
  `update tracker_calls set due_at = $3::timestamptz + make_interval(secs => ${NOTICE_WAIT_SECONDS})
   where call_id = $1 and opened_at = $2 and outcome is null`,
);

/** Makes the calls that are due, `atMost` at the same time. Returns how many there were. */
export async function callTrackers(deps: CallTrackersDeps, { atMost }: { atMost: number }): Promise<number> {
  const { database, now = () => new Date() } = deps;
  const calls = await database.run(claim, [now(), atMost]);
  // All of them end before one that failed is reported: a server that stops waits for them.
  const ended = await Promise.allSettled(calls.map((call) => callOne(deps, call, now)));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  return calls.length;
}

/** The result is recorded before redirects are followed: a kill or a fault while they are must not repeat the call. */
async function callOne(deps: CallTrackersDeps, call: ClaimedCall, now: () => Date): Promise<void> {
  const endsAt = performance.now() + CALL_MS;
  // A crash may have used up the attempts without a known result: the tracker is not called again.
  const isNotice = notices.includes(call.event);
  const maxAttempts = isNotice ? MAX_NOTICE_ATTEMPTS : MAX_ATTEMPTS;
  const first = call.attempts > maxAttempts ? undefined : await send(deps, call, { address: call.url, endsAt });
  const leftMs = endsAt - performance.now();
  const outcome = first ? outcomeOf(first, { isNotice, isLast: call.attempts >= maxAttempts }) : "unknown";
  deps.count?.(outcome ?? "retried");
  if (outcome) await recordOutcome(deps, call, { outcome, now });
  else if (isNotice) await deps.database.run(waitLess, [call.callId, call.openedAt, now()]);
  if (first) await followRedirects(deps, call, { first, endsAt: performance.now() + leftMs });
}

/** Until the database takes it: a call whose result is not recorded is made again once its lease has ended. */
async function recordOutcome(
  { database, stopping }: Pick<CallTrackersDeps, "database" | "stopping">,
  { callId, openedAt }: ClaimedCall,
  { outcome, now }: { outcome: CallOutcome; now: () => Date },
): Promise<void> {
  for (;;) {
    try {
      await database.run(finish, [callId, openedAt, now(), outcome]);
      return;
    } catch (error) {
      if (unavailabilityOf(error) === undefined || stopping?.aborted) throw error;
    }
    await wait(RECORD_EVERY_MS, undefined, { signal: stopping }).catch(() => {});
  }
}

function send(
  { requests }: Pick<CallTrackersDeps, "requests">,
  { userAgent }: ClaimedCall,
  { address, endsAt }: { address: string; endsAt: number },
): Promise<GuardedResult> {
  return requests.guardedRequest({
    url: address,
    method: "GET",
    purpose: "vast",
    headers: headersFor(userAgent),
    totalTimeoutMs: Math.max(1, endsAt - performance.now()),
    // Sent once, so never on a kept-alive connection: it may be closing, and a lost call would count as made.
    connection: "fresh",
  });
}

/**
 * Many trackers count the call and redirect to the next party's; some count only after a redirect, for example to https.
 * A tracker that redirects has answered, so what it redirects to is called once, whatever comes of it.
 */
async function followRedirects(
  deps: Pick<CallTrackersDeps, "requests" | "log">,
  call: ClaimedCall,
  { first, endsAt }: { first: GuardedResult; endsAt: number },
): Promise<void> {
  let address = call.url;
  let result = first;
  try {
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      const next =
        result.outcome === "failed" && result.location !== undefined ? URL.parse(result.location, address) : null;
      if (!next || endsAt - performance.now() < 1) return;
      address = next.href;
      result = await send(deps, call, { address, endsAt });
    }
  } catch (error) {
    deps.log.error({ err: error }, "a tracker's redirect could not be followed");
  }
}

/**
 * Undefined: the call is retried. Trackers count what they receive: only a call that certainly did not arrive, or was
 * refused temporarily, is sent again.
 */
export type CallOutcome = "answered" | "refused" | "failed" | "unknown";

function outcomeOf(
  result: GuardedResult,
  { isNotice, isLast }: { isNotice: boolean; isLast: boolean },
): CallOutcome | undefined {
  const isTaken = (status: number) => (isNotice ? status === 200 || status === 204 : status < 400);
  if (result.outcome === "answered" && isTaken(result.status)) return "answered";
  if (result.outcome === "failed" && result.errorClass === "redirect") return "answered";
  if (result.outcome === "failed" && result.wasSent) return "unknown";
  const isFinal =
    result.outcome === "answered"
      ? !isNotice && result.status < 500 && result.status !== 429
      : result.errorClass === "blocked-address";
  if (!isFinal && !isLast) return undefined;
  return result.outcome === "answered" ? "refused" : "failed";
}

/** Calls trackers until it is stopped; stopping waits for calls under way. Any number of nodes may run it. */
export function startCallingTrackers(deps: CallTrackersDeps): BackgroundLoop {
  const { log } = deps;
  return startLoop({
    everyMs: EVERY_MS,
    async round(stopping) {
      const called = await callTrackers({ ...deps, stopping }, { atMost: MAX_IN_FLIGHT });
      return called === MAX_IN_FLIGHT ? 0 : undefined;
    },
    onFault: (error) => log.error({ err: error }, "trackers could not be called; retrying"),
  });
}

import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import { fillMacros, type Macros } from "./fill-macros.ts";
import { readVastAd } from "./store-vast-ad.ts";
import type { ErrorCall } from "./unwrap-tag.ts";
import type { TrackedEvent, VastErrorCode } from "./vast-ad.ts";

const insert = statement<never>(
  "vast.enqueue-calls",
  `insert into tracker_calls (bot_id, session_id, event, position, url, user_agent, due_at)
   select $1, $2, * from (
     select event, position, url, $6::text, $7::timestamptz
     from unnest($3::text[], $4::integer[], $5::text[]) as calls(event, position, url)
   ) as calls
   on conflict do nothing`,
);

interface Call {
  event: TrackedEvent;
  position: number;
  url: string;
}

export interface TrackedMoment {
  events: TrackedEvent[];
  playheadMs: number;
  clickId?: string;
  errorCode?: VastErrorCode;
  now: Date;
}

/**
 * Enqueues calls of an ad's trackers for events of its session, in the transaction that records these events: each call
 * once, even if an event is reported again.
 */
export async function enqueueTrackerCalls(
  tx: AdTransaction,
  session: { botId: string; sessionId: string },
  { events, playheadMs, clickId, errorCode, now }: TrackedMoment,
): Promise<void> {
  if (events.length === 0) return;
  const { trackers, mediaUrl, userAgent } = await readVastAd(tx, session);
  const macros: Macros = {
    ...{ now, chance: Math.random(), sessionId: session.sessionId, userAgent, assetUri: mediaUrl, playheadMs },
    ...(clickId !== undefined && { clickId }),
    ...(errorCode !== undefined && { errorCode }),
  };
  const calls = events.flatMap((event): Call[] =>
    (trackers[event] ?? []).map((url, position) => ({ event, position, url: fillMacros(url, macros) })),
  );
  await insertCalls(tx, { ...session, userAgent, now }, calls);
}

/** Enqueues the reports to the `Error` URLs of why a tag returned no ad. */
export async function enqueueErrorCalls(
  tx: AdTransaction,
  { botId, userAgent, now }: { botId: string; userAgent: string; now: Date },
  errors: readonly ErrorCall[],
): Promise<void> {
  const calls = errors.flatMap(({ code, addresses }) =>
    addresses.map((url) => fillMacros(url, { now, chance: Math.random(), userAgent, errorCode: code })),
  );
  const numbered = calls.map((url, position): Call => ({ event: "error", position, url }));
  await insertCalls(tx, { botId, sessionId: null, userAgent, now }, numbered);
}

async function insertCalls(
  tx: AdTransaction,
  { botId, sessionId, userAgent, now }: { botId: string; sessionId: string | null; userAgent: string; now: Date },
  calls: readonly Call[],
): Promise<void> {
  if (calls.length === 0) return;
  const columns = [calls.map(({ event }) => event), calls.map(({ position }) => position), calls.map(({ url }) => url)];
  await tx.run(insert, [botId, sessionId, ...columns, userAgent, now]);
}

import { type DropReason, dropReasons } from "@intermission/operator-api/creatives";
import { vastReasonsInEnglish, vastReasonText } from "@intermission/operator-api/vast-reasons-in-english";
import type { Database } from "@intermission/postgres/open-database";
import { storableText } from "@intermission/postgres/storable-text";
import type { FastifyBaseLogger } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Drops } from "./drops.ts";
import { enqueueErrorCalls } from "./trackers.ts";
import { type TagRequest, type UnwrapDeps, type UnwrapOutcome, unwrapTag } from "./unwrap-tag.ts";
import type { VastAd, VastErrorCode } from "./vast-ad.ts";

type TagCall = TagRequest & { botId: string; creativeId: string; totalMs: number };

/** An unresponsive tag makes viewers wait: it is skipped for this time afterwards. */
const BACKOFF_MS = 10_000;
const MAX_IN_FLIGHT = 64;
const MAX_USER_AGENT_LENGTH = 512;
/** A tag answers each opening alike: what is dropped of its ads is logged once in this time, and counted each time. */
const DROPS_LOGGED_EVERY_MS = 60 * 60_000;

interface TagDeps extends UnwrapDeps {
  database: Database;
  log: Pick<FastifyBaseLogger, "warn">;
  now: () => Date;
  /** For the counters of answers and of what was dropped of them. */
  registry?: Registry;
}

/** What requesting tags needs, and what this node knows of them. */
export interface Tags extends TagDeps {
  /** By creative: until when it is skipped, on the clock of `performance.now`. */
  readonly backoffUntil: Map<string, number>;
  inFlight: number;
  /** By creative and reason: until when it is not logged again, on the same clock. */
  readonly quietUntil: Map<string, number>;
  readonly count: (answer: "ad" | VastErrorCode, drops: Drops) => void;
}

export function openTags(deps: TagDeps): Tags {
  return { ...deps, backoffUntil: new Map(), inFlight: 0, quietUntil: new Map(), count: counters(deps.registry) };
}

function counters(registry: Registry | undefined): Tags["count"] {
  if (!registry) return () => {};
  const shared = { registers: [registry] };
  const answers = new Counter({
    name: "intermission_vast_answers_total",
    help: "Answers of VAST tags: an ad, or the error code.",
    ...shared,
    labelNames: ["answer"],
  });
  const dropped = new Counter({
    name: "intermission_vast_dropped_total",
    help: "Parts of VAST answers that were not used.",
    ...shared,
    labelNames: ["reason"],
  });
  for (const reason of dropReasons) dropped.inc({ reason }, 0);
  return (answer, drops) => {
    answers.inc({ answer: String(answer) });
    for (const [reason, count] of Object.entries(drops)) dropped.inc({ reason }, count);
  };
}

/** Returns the ad of a tag; undefined if it has none now, which is logged and reported. */
export async function fillFromTag(tags: Tags, call: TagCall): Promise<VastAd | undefined> {
  const { log, backoffUntil } = tags;
  const { creativeId } = call;
  if (tags.inFlight >= MAX_IN_FLIGHT || (backoffUntil.get(creativeId) ?? 0) > performance.now()) return undefined;
  const unwrapped = await readTag(tags, call);
  const dropped = unloggedDrops(tags, creativeId, unwrapped.drops);
  if (unwrapped.outcome === "ad") {
    if (dropped) log.warn({ creativeId, dropped }, "parts of a VAST tag's answer were not used");
    return unwrapped.ad;
  }
  const { code, reason } = unwrapped;
  const detail = vastReasonText(vastReasonsInEnglish, reason);
  if (code === 301) backoffUntil.set(creativeId, performance.now() + BACKOFF_MS);
  // 303 is a valid response: this viewer gets no ad, the next one may. An ad that was dropped is worth a line all the same.
  if (code !== 303 || dropped) log.warn({ creativeId, code, detail, dropped }, "a VAST tag returned no ad");
  return undefined;
}

/** What a tag, or the markup of a bid, comes to. It is counted, and what is wrong is reported to its `Error` addresses. */
export async function readTag(tags: Tags, { botId, creativeId: _, totalMs, ...call }: TagCall): Promise<UnwrapOutcome> {
  const { database, now } = tags;
  // The user agent is stored with each call of a tracker.
  const request = { ...call, userAgent: storableText(call.userAgent, MAX_USER_AGENT_LENGTH) };
  const { userAgent } = request;
  tags.inFlight += 1;
  const unwrapped = await unwrapTag({ ...tags, totalMs }, { ...request, now }).finally(() => {
    tags.inFlight -= 1;
  });
  const { errors, drops } = unwrapped;
  if (errors.length > 0) await enqueueErrorCalls(database, { botId, userAgent, now: now() }, errors);
  tags.count(unwrapped.outcome === "ad" ? "ad" : unwrapped.code, drops);
  return unwrapped;
}

/** The drops of reasons that were not logged lately for this creative. */
function unloggedDrops({ quietUntil }: Tags, creativeId: string, drops: Drops): Drops | undefined {
  const at = performance.now();
  const keyOf = (reason: DropReason) => `${creativeId} ${reason}`;
  const news = dropReasons.filter(
    (reason) => drops[reason] !== undefined && (quietUntil.get(keyOf(reason)) ?? 0) <= at,
  );
  for (const reason of news) quietUntil.set(keyOf(reason), at + DROPS_LOGGED_EVERY_MS);
  return news.length > 0 ? Object.fromEntries(news.map((reason) => [reason, drops[reason]])) : undefined;
}

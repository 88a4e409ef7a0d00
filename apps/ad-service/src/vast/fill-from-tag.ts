import type { Database } from "@intermission/postgres/open-database";
import type { FastifyBaseLogger } from "fastify";
import { enqueueErrorCalls } from "./trackers.ts";
import { type TagRequest, type UnwrapDeps, unwrapTag } from "./unwrap-tag.ts";
import type { VastAd } from "./vast-ad.ts";

export interface TagCall extends TagRequest {
  botId: string;
  creativeId: string;
  totalMs: number;
}

/** An unresponsive tag makes viewers wait: it is skipped for this time afterwards. */
const REST_MS = 10_000;
const MOST_IN_FLIGHT = 64;
const LONGEST_USER_AGENT = 512;

export interface TagDeps extends UnwrapDeps {
  database: Database;
  log: Pick<FastifyBaseLogger, "warn">;
  now: () => Date;
}

/** What requesting tags needs, and what this node knows of them. */
export interface Tags extends TagDeps {
  /** By creative: until when it is skipped, on the clock of `performance.now`. */
  readonly restingUntil: Map<string, number>;
  inFlight: number;
}

export function openTags(deps: TagDeps): Tags {
  return { ...deps, restingUntil: new Map(), inFlight: 0 };
}

/** Returns the ad of a tag; undefined if it has none now, which is logged and reported. */
export async function fillFromTag(
  tags: Tags,
  { botId, creativeId, totalMs, ...call }: TagCall,
): Promise<VastAd | undefined> {
  const { database, log, now, restingUntil } = tags;
  // The user agent is stored with each call of a tracker.
  const request = { ...call, userAgent: call.userAgent.slice(0, LONGEST_USER_AGENT) };
  const { userAgent } = request;
  if (tags.inFlight >= MOST_IN_FLIGHT || (restingUntil.get(creativeId) ?? 0) > performance.now()) return undefined;
  tags.inFlight += 1;
  const unwrapped = await unwrapTag({ ...tags, totalMs }, { ...request, now }).finally(() => {
    tags.inFlight -= 1;
  });
  if (unwrapped.errors.length > 0)
    await enqueueErrorCalls(database, { botId, userAgent, now: now() }, unwrapped.errors);
  if (unwrapped.outcome === "ad") return unwrapped.ad;
  const { code, detail } = unwrapped;
  // 303 is a valid response: this viewer gets no ad, the next one may.
  if (code === 301) restingUntil.set(creativeId, performance.now() + REST_MS);
  if (code !== 303) log.warn({ creativeId, code, detail }, "a VAST tag returned no ad");
  return undefined;
}

import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";

type ShareDecision =
  | { outcome: "kept"; percent: number }
  | { outcome: "stored"; percent: number }
  | { outcome: "changed"; percent: number; from: number };

const DEFAULT_PERCENT = 70;

/** All nodes use the stored share. A node that has the setting changes it at its start; one without the setting keeps it. */
function decideShare(stored: number | undefined, configured: number | undefined): ShareDecision {
  if (stored === undefined) return { outcome: "stored", percent: configured ?? DEFAULT_PERCENT };
  if (configured === undefined || configured === stored) return { outcome: "kept", percent: stored };
  return { outcome: "changed", percent: configured, from: stored };
}

const readLatest = statement<{ percent: number }>(
  "statistics.read-share",
  "select percent from publisher_shares order by since desc limit 1",
);

async function storedShare(database: Pick<Database, "run">): Promise<number | undefined> {
  return (await database.run(readLatest, []))[0]?.percent;
}

const remember = statement<never>(
  "statistics.remember-share",
  `with latest as (select percent from publisher_shares order by since desc limit 1)
   insert into publisher_shares (since, percent)
   select case when exists (select 1 from latest) then $2::timestamptz else '-infinity' end, $1
   where $1 is distinct from (select percent from latest)
   on conflict (since) do update set percent = excluded.percent`,
);

/**
 * Returns the share that applies from now on, and logs a change. Earlier charges keep the share of their time: a changed
 * setting does not change figures already reported.
 */
export async function rememberPublisherShare(
  database: Database,
  { configured, now }: { configured: number | undefined; now: Date },
  log: Pick<FastifyBaseLogger, "warn">,
): Promise<ShareDecision> {
  const decision = decideShare(await storedShare(database), configured);
  if (decision.outcome === "kept") return decision;
  await database.run(remember, [decision.percent, now]);
  if (decision.outcome === "changed") {
    const { percent, from } = decision;
    log.warn(
      { from, percent },
      `the publisher's share of charges from now on is ${percent} %, by PUBLISHER_SHARE_PERCENT of this node; it was ${from} %. ` +
        "It applies to all nodes: set the same on each, since the node that starts last decides",
    );
  }
  return decision;
}

const EVERY_MS = 60_000;

/** Reports on a running node that another node has changed the share. */
interface ShareCheck {
  warning(): string | undefined;
  health: BackgroundLoop["health"];
  stop: BackgroundLoop["stop"];
}

/** Compares the setting of this node with the stored share every minute; a difference is logged once. */
export function startComparingShare(deps: {
  database: Pick<Database, "run">;
  configured: number | undefined;
  log: Pick<FastifyBaseLogger, "warn">;
  everyMs?: number;
}): ShareCheck {
  const { database, configured, log, everyMs = EVERY_MS } = deps;
  let warning: string | undefined;
  const { health, stop } = startLoop({
    everyMs,
    firstInMs: everyMs,
    async round() {
      const next = shareWarning(await storedShare(database), configured);
      if (next !== undefined && next !== warning) log.warn({ configured }, next);
      warning = next;
      return undefined;
    },
    // An outage is reported by the requests that it fails.
    onFault: () => {},
  });
  return { warning: () => warning, health, stop };
}

function shareWarning(stored: number | undefined, configured: number | undefined): string | undefined {
  if (decideShare(stored, configured).outcome !== "changed") return undefined;
  return (
    `PUBLISHER_SHARE_PERCENT of this node is ${configured}, and another node has set the share to ${stored} %, which applies to ` +
    "all charges: set the same on each node"
  );
}

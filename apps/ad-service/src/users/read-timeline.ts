import type { TimelineEntry, TimelineStep } from "@intermission/operator-api/timeline";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { entryOfRequest, readFacts, requestsWithoutCode } from "./timeline-facts.ts";

export interface Timeline {
  entries: TimelineEntry[];
  /** Older codes of the user that are not among these entries. */
  hasOlder: boolean;
  /** False if the search for codes that were never used took too long for one statement: they may be missing. */
  isComplete: boolean;
}

/** Everything that is stored of these codes of a bot, in the order of time. */
export async function timelineOfCodes(
  database: Pick<Database, "run">,
  { botId, codes }: { botId: string; codes: readonly string[] },
): Promise<TimelineEntry[]> {
  return inOrder(await readFacts(database, [botId, codes]));
}

/** In the order of `TimelineStep` where two have the same time. */
const ranks = {
  "code-issued": 0,
  "ad-requested": 1,
  "view-opened": 2,
  "view-started": 3,
  "view-watched": 4,
  "cta-clicked": 5,
  "view-closed": 6,
  "click-not-counted": 7,
  "click-held": 7,
  "click-refused": 7,
  reviewed: 8,
  earned: 9,
  "webhook-failed": 10,
  "webhook-answered": 10,
  converted: 11,
  refunded: 12,
} satisfies Record<TimelineStep, number>;

function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => a.at.getTime() - b.at.getTime() || ranks[a.step] - ranks[b.step]);
}

interface CodeOfUser {
  code: string;
  at: Date;
}

/** A user's codes, the latest first: the current ones, and those with a view or an event. */
const usedCodesOfUser = statement<CodeOfUser>(
  "timeline.codes-of-user",
  `select code, max(at) as at from (
     (select code, issued_at as at from current_codes where bot_id = $1 and user_id = $2 order by issued_at desc limit $3)
     union all
     (select code, opened_at from views where bot_id = $1 and user_id = $2 order by opened_at desc limit $3)
     union all
     (select code, occurred_at from events where bot_id = $1 and user_id = $2 and code is not null
      order by occurred_at desc limit $3)
   ) as known group by code order by at desc limit $3`,
);

/*
 * Codes that were replaced before they earned anything, with their refused clicks and requests. No index leads from a user to
 * them, nor to requests without a code, since each would be written with every code. Unnamed, so planned each time.
 */
const allCodesOfUser: Statement<CodeOfUser> = {
  name: "",
  text: `select code, issued_at as at from codes where bot_id = $1 and user_id = $2 order by issued_at desc limit $3`,
};

/** The latest codes of a user, with everything that is stored of them, and the user's latest requests without a code. */
export async function timelineOfUser(
  database: Pick<Database, "run">,
  { botId, userId, maxCodes }: { botId: string; userId: string; maxCodes: number },
): Promise<Timeline> {
  const used = await database.run(usedCodesOfUser, [botId, userId, maxCodes + 1]);
  const searched = await searchedFor(database, [botId, userId, maxCodes + 1]);
  // Of two times of a code, the later one: a code may be used long after its issue.
  const found = new Map<string, number>();
  for (const { code, at } of [...used, ...searched.codes])
    found.set(code, Math.max(at.getTime(), found.get(code) ?? at.getTime()));
  const latest = [...found].toSorted(([, a], [, b]) => b - a).map(([code]) => code);
  const entries = await timelineOfCodes(database, { botId, codes: latest.slice(0, maxCodes) });
  return {
    entries: inOrder([...entries, ...searched.requests]),
    hasOlder: latest.length > maxCodes,
    isComplete: searched.isComplete,
  };
}

async function searchedFor(
  database: Pick<Database, "run">,
  parameters: [botId: string, userId: string, limit: number],
) {
  try {
    const codes = await database.run(allCodesOfUser, parameters);
    const requests = await database.run(requestsWithoutCode, parameters);
    return { codes, requests: requests.map(entryOfRequest), isComplete: true };
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    return { codes: [], requests: [], isComplete: false };
  }
}

/** SQLSTATE 57014 (query_canceled). */
function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

interface ViewerLimits {
  earnedToday: number;
  lastEarnedAt: Date | null;
  dailyCap: number;
  cooldownSeconds: number;
  isTester: boolean;
}

const limits = statement<ViewerLimits>(
  "timeline.limits-of-user",
  `select case when day = ($3::timestamptz at time zone 'utc')::date then earned_today else 0 end as "earnedToday",
     last_earned_at as "lastEarnedAt", daily_cap as "dailyCap", cooldown_seconds as "cooldownSeconds",
     $2 = any (testers) as "isTester"
   from bots left join viewers on viewers.bot_id = bots.bot_id and viewers.user_id = $2 where bots.bot_id = $1`,
);

/** What limits the user now; undefined if there is no such bot. */
export async function readViewerLimits(
  database: Pick<Database, "run">,
  { botId, userId, now }: { botId: string; userId: string; now: Date },
): Promise<ViewerLimits | undefined> {
  const [row] = await database.run(limits, [botId, userId, now]);
  return row && { ...row, earnedToday: row.earnedToday ?? 0 };
}

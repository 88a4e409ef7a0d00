import { type Database, type Statement, statement } from "@intermission/postgres/open-database";

/** What happened to a code or its user, in the order in which the steps lead to a reward. */
export type TimelineStep =
  | "code-issued"
  | "ad-requested"
  | "view-opened"
  | "view-started"
  | "view-watched"
  | "view-closed"
  | "cta-clicked"
  | "click-not-counted"
  | "click-held"
  | "click-refused"
  | "reviewed"
  | "earned"
  | "converted"
  | "refunded"
  | "webhook-answered"
  | "webhook-failed";

export interface TimelineEntry {
  at: Date;
  step: TimelineStep;
  code: string | null;
  /** Of the view, the click or the event. */
  id: string | null;
  campaignId: string | null;
  creativeId: string | null;
  /** Of a charge, a refund or a conversion, in millionths of the currency. */
  amountMicros: number | null;
  /** What the step says beside its name: a state, a reason, an answer. */
  detail: string | null;
}

export interface Timeline {
  entries: TimelineEntry[];
  /** Older codes of the user that are not among these entries. */
  hasOlder: boolean;
  /** False if the search for codes that were never used took too long for one statement: they may be missing. */
  isComplete: boolean;
}

/** The facts of some codes of a bot, $2; each of these statements reads by an index that begins with the code. */
const ofCodes = (name: string, text: string) => statement<TimelineEntry>(`timeline.${name}`, text);
const of = (alias: string) => `${alias}.bot_id = $1 and ${alias}.code = any ($2::text[])`;

const issued = ofCodes(
  "issued",
  `select issued_at as at, 'code-issued' as step, code, null as id, null as "campaignId", null as "creativeId", null::bigint as "amountMicros",
     concat_ws(', ', 'valid until ' || to_char(expires_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS"Z"'),
       'reference ' || nullif(reference, '')) as detail
   from codes c where ${of("c")}`,
);
const requested = ofCodes(
  "requested",
  `select occurred_at as at, 'ad-requested' as step, code, null as id, campaign_id as "campaignId",
     creative_id as "creativeId", null::bigint as "amountMicros",
     concat_ws(': ', outcome, nullif(reason, '')) as detail
   from ad_requests r where ${of("r")} order by occurred_at desc limit 200`,
);
const views = ofCodes(
  "views",
  `select moment.at, moment.step, code, view_id as id, campaign_id as "campaignId", creative_id as "creativeId", null::bigint as "amountMicros",
     moment.detail
   from views s cross join lateral (values
     (opened_at, 'view-opened', case when is_test then 'test: free of charge' end),
     (started_at, 'view-started', null),
     (watched_at, 'view-watched', accepted_ms || ' of ' || duration_ms || ' ms'),
     (closed_at, 'view-closed', concat_ws(', ', close_reason, 'state ' || state,
       'suspicious: ' || nullif(array_to_string(suspicions, ' '), ''),
       'refused reports ' || refusals::text)),
     (case when closed_at is null then coalesce(last_report_at, fault_at) end, 'view-closed',
       concat_ws(', ', 'not closed so far, state ' || state, 'fault ' || fault, 'refused reports ' || refusals::text)),
     (decided_at, 'reviewed', 'by the operator: ' || state)
   ) as moment (at, step, detail) where ${of("s")} and moment.at is not null`,
);
const ctaClicks = ofCodes(
  "cta-clicks",
  `select t.occurred_at as at, 'cta-clicked' as step, s.code, t.click_id as id, t.campaign_id as "campaignId",
     t.creative_id as "creativeId", null::bigint as "amountMicros",
     null as detail
   from views s join cta_clicks t on t.view_id = s.view_id and t.bot_id = s.bot_id and t.opened_at = s.opened_at where ${of("s")}`,
);
const withheld = ofCodes(
  "withheld-clicks",
  `select moment.at, moment.step, code, click_id as id, campaign_id as "campaignId", null as "creativeId", null::bigint as "amountMicros",
     moment.detail
   from withheld_clicks w cross join lateral (values
     (occurred_at, case when outcome in ('held', 'released') then 'click-held'
         when outcome = 'refused' then 'click-refused' else 'click-not-counted' end,
       concat_ws(', ', case when outcome not in ('held', 'released', 'refused') then outcome end,
         'suspicious: ' || nullif(array_to_string(suspicions, ' '), ''))),
     (decided_at, 'reviewed', 'by the operator: ' || outcome)
   ) as moment (at, step, detail) where ${of("w")} and moment.at is not null
   order by occurred_at limit 200`,
);
const earned = ofCodes(
  "earned",
  `select moment.at, moment.step, e.code, e.event_id as id, e.campaign_id as "campaignId", e.creative_id as "creativeId",
     moment.amount as "amountMicros", moment.detail
   from events e left join deliveries d on d.event_id = e.event_id and d.bot_id = e.bot_id
   left join refunds f on f.event_id = e.event_id
   cross join lateral (values
     (e.occurred_at, 'earned', e.price_micros, concat_ws(', ', e.event, case when e.is_test then 'test' end,
       'suspicious: ' || nullif(array_to_string(e.suspicions, ' '), ''),
       'webhook ' || d.state || coalesce(' (' || d.end_reason || ')', ''))),
     (f.occurred_at, 'refunded', f.price_micros, null)
   ) as moment (at, step, amount, detail) where ${of("e")} and moment.at is not null`,
);
const attempts = ofCodes(
  "attempts",
  `select a.started_at as at, case when a.status between 200 and 299 then 'webhook-answered' else 'webhook-failed' end as step,
     e.code, e.event_id as id, null as "campaignId", null as "creativeId", null::bigint as "amountMicros",
     concat_ws(', ', 'attempt ' || a.attempt, a.status::text, a.error_class, a.total_ms || ' ms',
       case when a.is_replay then 'replay' end) as detail
   from events e join delivery_attempts a on a.event_id = e.event_id and a.bot_id = e.bot_id where ${of("e")}
   order by a.started_at limit 500`,
);
const converted = ofCodes(
  "converted",
  `select v.occurred_at as at, 'converted' as step, clicks.code, v.click_id as id, v.campaign_id as "campaignId",
     v.creative_id as "creativeId", v.value_micros as "amountMicros", nullif(v.event, '') as detail
   from (
     select code, 'clk_' || substr(event_id, 5) as click_id from events e where ${of("e")} and event = 'direct_link'
     union all select code, click_id from withheld_clicks w where ${of("w")}
     union all select s.code, t.click_id from views s
       join cta_clicks t on t.view_id = s.view_id and t.bot_id = s.bot_id and t.opened_at = s.opened_at where ${of("s")}
   ) as clicks
   -- Each click looks up its own: a join reads all conversions instead.
   cross join lateral (select * from conversions where conversions.click_id = clicks.click_id offset 0) as v limit 200`,
);

const factsOfCodes = [issued, requested, views, ctaClicks, withheld, earned, attempts, converted];

/** Everything that is stored of these codes of a bot, in the order of time. */
export async function timelineOfCodes(
  database: Pick<Database, "run">,
  { botId, codes }: { botId: string; codes: readonly string[] },
): Promise<TimelineEntry[]> {
  const entries: TimelineEntry[] = [];
  for (const facts of factsOfCodes) entries.push(...(await database.run(facts, [botId, codes])));
  return inOrder(entries);
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

export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
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
 * Codes that were replaced before they earned anything, with their refused clicks and requests, and requests without a code.
 * No index leads from a user to them, since each would be written with every code. Unnamed, so planned each time.
 */
const allCodesOfUser: Statement<CodeOfUser> = {
  name: "",
  text: `select code, issued_at as at from codes where bot_id = $1 and user_id = $2 order by issued_at desc limit $3`,
};
const requestedWithoutCode: Statement<TimelineEntry> = {
  name: "",
  text: `select occurred_at as at, 'ad-requested' as step, null as code, null as id, null as "campaignId",
     null as "creativeId", null::bigint as "amountMicros", concat_ws(': ', outcome, nullif(reason, '')) as detail
   from ad_requests where bot_id = $1 and user_id = $2 and code is null order by occurred_at desc limit $3`,
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
    return { codes, requests: await database.run(requestedWithoutCode, parameters), isComplete: true };
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    return { codes: [], requests: [], isComplete: false };
  }
}

/** SQLSTATE 57014 (query_canceled). */
function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

export interface ViewerLimits {
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

import { codeWeekAt, firstEventIdAt } from "@intermission/ad-core/code";
import type { KeptRows } from "@intermission/operator-api/status";
import type { PartitionedTable } from "@intermission/postgres/partitions";

/** Days for which the rows of each kind are kept. They go with the last row of their week, up to seven days later. */
export type Retention = Readonly<Record<KeptRows, number>>;

/** The minimum of every kind: rows of the last days always have a partition. */
export const MIN_KEPT_DAYS = 7;

/** A click converts for thirteen months: a subscription's renewals of a year belong to its click. */
export const MAX_CLICK_AGE_DAYS = 396;

export interface KeptTable extends PartitionedTable {
  /**
   * SQL for rows without which something would be lost: the sums of the statistics do not include them yet, or they
   * still need a decision. A row is needed if it fits one of these; each is looked for by its own index.
   */
  readonly neededWhile?: readonly string[];
  /** A week of this table goes only after that of another one, whose rows need it. */
  readonly after?: string;
}

const notSummed = (source: string) => [`xid >= (select xid from stats_progress where source = '${source}')`];

/** Held for review; and watched, but not closed or still waiting for the end of a cooldown. */
const notSettled = [
  "suspicions <> '{}' and state = 'held'",
  "(view_id, bot_id) in (select view_id, bot_id from views_due)",
];

/** For tables that are partitioned by the week of the code's issue. */
const byCode = { keyAt: codeWeekAt };
/** For tables that are partitioned by the time in the event's id: that of the reward, or of the click that it pays. */
const byEvent = { keyAt: (ms: number) => firstEventIdAt(new Date(ms)) };
/** Not sent yet. */
const notSentYet = ["state = 'waiting'", "state = 'sending'", "state = 'held'"];

/** Still without a decision. */
const heldClick = "suspicions <> '{}' and outcome = 'held'";
/** Its webhook, if it is released, has the code's reference. */
const ofHeldClick = `(code, bot_id) in (select code, bot_id from withheld_clicks where ${heldClick})`;

/** Thirteen months: long enough to compare a month with the same one of the year before, row by row. */
const THIRTEEN_MONTHS = 396;

/** One kind of rows: its tables, and its setting. */
interface Kept {
  readonly tables: readonly KeptTable[];
  readonly usualDays: number;
  readonly minDays?: number;
  /** What the setting is about, in the list of settings. */
  readonly what: string;
}

export const keptByKind: Readonly<Record<KeptRows, Kept>> = {
  // A code lives for a day at most: afterwards it only explains what its user did.
  codes: { tables: [{ name: "codes", ...byCode, neededWhile: [ofHeldClick] }], usualDays: 30, what: "codes" },
  // The ads of tags are by the opening of their view, which comes after its code: they go with it, or a week later.
  views: {
    tables: [{ name: "views", fillfactor: 50, ...byCode, neededWhile: notSettled }, { name: "vast_ads" }],
    usualDays: 30,
    what: "views, from the issue of their code on",
  },
  // An advertiser may ask for samples of a month after its statement.
  launches: {
    tables: [{ name: "view_launches" }],
    usualDays: 100,
    what: "[signed launches](proof.md) of priced views",
  },
  requests: {
    tables: [{ name: "ad_requests", neededWhile: notSummed("requests") }],
    usualDays: THIRTEEN_MONTHS,
    what: "ad requests",
  },
  milestones: {
    tables: [{ name: "ad_milestones", neededWhile: notSummed("milestones") }],
    usualDays: THIRTEEN_MONTHS,
    what: "milestones of views",
  },
  "cta-clicks": {
    tables: [{ name: "cta_clicks", neededWhile: notSummed("cta-clicks") }],
    usualDays: THIRTEEN_MONTHS,
    what: "clicks on buttons in ads",
  },
  "refused-clicks": {
    tables: [{ name: "click_refusals", fillfactor: 70, neededWhile: ["not is_summed"] }],
    usualDays: THIRTEEN_MONTHS,
    what: "counts of refused clicks",
  },
  "withheld-clicks": {
    tables: [{ name: "withheld_clicks", ...byCode, neededWhile: [heldClick] }],
    usualDays: THIRTEEN_MONTHS,
    what: "held and refused suspicious clicks; one that waits for a decision stays",
  },
  // From the click on. While a click may convert, a repeated report must find its row, or it would be counted twice.
  conversions: {
    tables: [
      { name: "conversions", neededWhile: notSummed("conversions") },
      { name: "conversion_reversals", neededWhile: notSummed("reversals") },
    ],
    usualDays: MAX_CLICK_AGE_DAYS + THIRTEEN_MONTHS,
    minDays: MAX_CLICK_AGE_DAYS,
    what: "conversions, from the click on",
  },
  "ad-reports": { tables: [{ name: "ad_reports" }], usualDays: THIRTEEN_MONTHS, what: "viewers' reports of ads" },
  // The webhooks themselves. While one waits or is held, its week stays.
  deliveries: {
    tables: [
      { name: "deliveries", ...byEvent, neededWhile: notSentYet },
      { name: "event_bodies", ...byEvent, after: "deliveries" },
    ],
    usualDays: 30,
    what: "webhooks; one that waits or is held stays, and so does each event",
  },
  attempts: { tables: [{ name: "delivery_attempts" }], usualDays: 30, what: "attempts to deliver" },
  "tracker-calls": { tables: [{ name: "tracker_calls" }], usualDays: 7, what: "calls of trackers" },
  // Without its row, an impression would be owed again by a view that starts late.
  impressions: {
    tables: [
      {
        name: "bought_impressions",
        neededWhile: ["xid >= (select xid from money_progress where source = 'impressions')"],
      },
    ],
    usualDays: THIRTEEN_MONTHS,
    what: "bought impressions",
  },
  "opening-offers": {
    tables: [{ name: "opening_offers" }],
    usualDays: 7,
    what: "buyers' answers",
  },
};

/** All tables that are partitioned by week. */
export const partitionedTables: readonly KeptTable[] = Object.values(keptByKind).flatMap(({ tables }) => tables);

export const keptKinds = Object.keys(keptByKind) as readonly KeptRows[];

export function tablesOfKind(kind: KeptRows): readonly KeptTable[] {
  return keptByKind[kind].tables;
}

export function tableNames(kind: KeptRows): readonly string[] {
  return keptByKind[kind].tables.map(({ name }) => name);
}

const kindOfTable = new Map(keptKinds.flatMap((kind) => tableNames(kind).map((name) => [name, kind])));

const DAY_MS = 86_400_000;

/** Whether all rows of a week that ended at `toMs` are older than their kind is kept. Rows of other tables stay. */
export function isExpired({ table, toMs }: { table: string; toMs: number }, retention: Retention, now: Date): boolean {
  const kind = kindOfTable.get(table);
  return kind !== undefined && toMs + retention[kind] * DAY_MS <= now.getTime();
}

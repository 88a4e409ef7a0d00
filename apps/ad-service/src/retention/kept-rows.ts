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

const tablesOf: Readonly<Record<KeptRows, readonly KeptTable[]>> = {
  codes: [{ name: "codes", ...byCode, neededWhile: [ofHeldClick] }],
  // The ads of tags are by the opening of their view, which comes after its code: they go with it, or a week later.
  views: [{ name: "views", fillfactor: 50, ...byCode, neededWhile: notSettled }, { name: "vast_ads" }],
  requests: [{ name: "ad_requests", neededWhile: notSummed("requests") }],
  milestones: [{ name: "ad_milestones", neededWhile: notSummed("milestones") }],
  "cta-clicks": [{ name: "cta_clicks", neededWhile: notSummed("cta-clicks") }],
  "refused-clicks": [{ name: "click_refusals", fillfactor: 70, neededWhile: ["not is_summed"] }],
  "withheld-clicks": [{ name: "withheld_clicks", ...byCode, neededWhile: [heldClick] }],
  conversions: [
    { name: "conversions", neededWhile: notSummed("conversions") },
    { name: "conversion_reversals", neededWhile: notSummed("reversals") },
  ],
  "ad-reports": [{ name: "ad_reports" }],
  deliveries: [
    { name: "deliveries", ...byEvent, neededWhile: notSentYet },
    { name: "event_bodies", ...byEvent, after: "deliveries" },
  ],
  attempts: [{ name: "delivery_attempts" }],
  "tracker-calls": [{ name: "tracker_calls" }],
};

/** All tables that are partitioned by week. */
export const partitionedTables: readonly KeptTable[] = Object.values(tablesOf).flat();

export const keptKinds = Object.keys(tablesOf) as readonly KeptRows[];

export function tablesOfKind(kind: KeptRows): readonly KeptTable[] {
  return tablesOf[kind];
}

export function tableNames(kind: KeptRows): readonly string[] {
  return tablesOf[kind].map(({ name }) => name);
}

const kindOfTable = new Map(keptKinds.flatMap((kind) => tableNames(kind).map((name) => [name, kind])));

const DAY_MS = 86_400_000;

/** Whether all rows of a week that ended at `toMs` are older than their kind is kept. Rows of other tables stay. */
export function isExpired({ table, toMs }: { table: string; toMs: number }, retention: Retention, now: Date): boolean {
  const kind = kindOfTable.get(table);
  return kind !== undefined && toMs + retention[kind] * DAY_MS <= now.getTime();
}

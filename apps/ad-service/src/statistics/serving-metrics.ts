import { type Database, statement } from "@intermission/postgres/open-database";
import { rarelyRead } from "@intermission/server/metrics";
import { Counter, Gauge, type Registry } from "prom-client";
import { isReasoned, type Measure, measureRows, measures, type ReasonedMeasure } from "./measures.ts";

const counters = {
  intermission_ad_requests_total: { help: "Requests for an ad, by outcome and reason.", label: "outcome" },
  intermission_views_total: { help: "Milestones of views; held and refused ones with the reason.", label: "milestone" },
  intermission_playback_faults_total: { help: "Videos that a player gave up, by reason.", label: "kind" },
  intermission_rewards_total: { help: "Paid events, and refunds of them.", label: "event" },
  intermission_clicks_total: {
    help: "Clicks that earn nothing: refused ones, and those on the button of a video.",
    label: "kind",
  },
  intermission_conversions_total: { help: "What advertisers reported about clicks.", label: "kind" },
} as const;

const seriesOf = (measure: Measure): readonly [keyof typeof counters, string] => measureRows[measure].series;

type SumsOfToday = Record<Measure, number> & { spendMicros: number };

const sumsOfToday = statement<SumsOfToday>(
  "statistics.sums-of-today",
  `select ${measures.map((measure) => `coalesce(sum(${measureRows[measure].column}), 0)::float8 as "${measure}"`).join(", ")},
     coalesce(sum(spend_micros), 0)::float8 as "spendMicros"
   from stats_bot_sums where span = 'day' and starts_at = date_trunc('day', now(), 'UTC')`,
);
const reasonsOfToday = statement<{ measure: ReasonedMeasure; reason: string; count: number }>(
  "statistics.reasons-of-today",
  `select measure, reason, sum(count)::float8 as count from stats_bot_reasons
   where span = 'day' and starts_at = date_trunc('day', now(), 'UTC') group by measure, reason`,
);

interface FiguresOfToday {
  counts: readonly { measure: Measure; reason: string; count: number }[];
  spendMicros: number;
}

async function readToday(database: Database): Promise<FiguresOfToday> {
  const [sums] = await database.run(sumsOfToday, []);
  if (sums === undefined) throw new Error("a sum without groups has one row");
  const plain = measures.filter((measure) => !isReasoned(measure));
  const reasons = await database.run(reasonsOfToday, []);
  const counts = [...plain.map((measure) => ({ measure, reason: "", count: sums[measure] })), ...reasons];
  return { counts, spendMicros: sums.spendMicros };
}

interface Backlog {
  lagSeconds: number | null;
  views: number;
  clicks: number;
}

const backlog = statement<Backlog>(
  "statistics.backlog",
  `select (select extract(epoch from now() - min(counted_until))::float8 from stats_progress
      where counted_until > '-infinity') as "lagSeconds",
    (select count(*) from views where suspicions <> '{}' and state = 'held'
      and opened_at > now() - interval '30 days') as views,
    (select count(*) from withheld_clicks where suspicions <> '{}' and outcome = 'held'
      and occurred_at > now() - interval '30 days') as clicks`,
);

/**
 * What was served, paid and refused since 00:00 UTC, from the sums of all nodes: aggregate these series over nodes by maximum.
 * They start again at 0 at midnight, as after a restart. Reasons are words of this service, and no series names a bot, a
 * campaign or a person.
 */
export function servingMetrics(
  registry: Registry,
  deps: {
    readonly database: Database;
    readonly currency: string;
    /** Views that this node plays now. */
    readonly liveViews: () => number;
    readonly log: { warn(facts: object, message: string): void };
  },
): void {
  const { database, currency, liveViews, log } = deps;
  const read = rarelyRead(async () => ({
    today: await readToday(database),
    waiting: (await database.run(backlog, []))[0],
  }));
  /** A failed query must not fail the rest of the scrape. Without figures the series is absent rather than wrong. */
  const figures: ReadFigures = () =>
    read().catch((error: unknown) => {
      log.warn({ err: error }, "the figures of serving could not be read");
      return undefined;
    });
  countMeasures(registry, figures);
  countSpend(registry, { figures, currency });
  watchBacklog(registry, figures);
  new Gauge({
    name: "intermission_live_views",
    registers: [registry],
    help: "Views of this node that reported playback within the last 30 s.",
    collect() {
      this.set(liveViews());
    },
  });
}

interface Figures {
  readonly today: FiguresOfToday;
  readonly waiting: Backlog | undefined;
}

type ReadFigures = () => Promise<Figures | undefined>;

function countMeasures(registry: Registry, figures: ReadFigures): void {
  for (const [name, { help, label }] of Object.entries(counters)) {
    new Counter({
      name,
      help,
      labelNames: [label, "reason"],
      registers: [registry],
      async collect() {
        const today = (await figures())?.today;
        this.reset();
        if (today === undefined) return;
        for (const [series, value] of measures.map(seriesOf))
          if (series === name) this.inc({ [label]: value, reason: "" }, 0);
        for (const { measure, reason, count } of today.counts)
          if (seriesOf(measure)[0] === name) this.inc({ [label]: seriesOf(measure)[1], reason }, count);
      },
    });
  }
}

function countSpend(registry: Registry, { figures, currency }: { figures: ReadFigures; currency: string }): void {
  new Counter({
    name: "intermission_spend_total",
    labelNames: ["currency"],
    registers: [registry],
    help: "What campaigns owe, in units of the currency, less refunds.",
    async collect() {
      const micros = (await figures())?.today.spendMicros;
      this.reset();
      if (micros !== undefined) this.inc({ currency }, Math.max(0, micros) / 1e6);
    },
  });
}

function watchBacklog(registry: Registry, figures: ReadFigures): void {
  new Gauge({
    name: "intermission_statistics_lag_seconds",
    registers: [registry],
    help: "How far the sums are behind: a transaction that stays open delays them.",
    async collect() {
      const lag = (await figures())?.waiting?.lagSeconds;
      this.reset();
      this.set(lag ?? Number.NaN);
    },
  });
  new Gauge({
    name: "intermission_held_for_review",
    labelNames: ["kind"],
    registers: [registry],
    help: "Suspicious views and clicks of the last 30 days that wait for the operator's decision.",
    async collect() {
      const waiting = (await figures())?.waiting;
      this.reset();
      if (waiting === undefined) return;
      this.set({ kind: "view" }, waiting.views);
      this.set({ kind: "click" }, waiting.clicks);
    },
  });
}

import { fieldFault } from "@intermission/operator-api/field-forms";
import {
  type DifferenceLevel,
  type PartnerDifference,
  partnerReportRoutes,
} from "@intermission/operator-api/partner-reports";
import { audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { requireBuyer } from "../buyers/buyers.ts";
import { readAtMost } from "../creatives/media-storage.ts";
import { readReport } from "./read-report.ts";

const rows = rowParameters({ day: "text", impressions: "bigint", amount_micros: "bigint" });

// Sorted, so that two imports lock the days that both have in one order.
const store = statement<never>(
  "demand.store-partner-days",
  `insert into partner_days (buyer_id, time_zone, imported_at, day, impressions, amount_micros)
   select $4, $5, $6, day::date, impressions, amount_micros from (${rows.table}) as reported order by day
   on conflict (buyer_id, day) do update set time_zone = excluded.time_zone, impressions = excluded.impressions,
     amount_micros = excluded.amount_micros, imported_at = excluded.imported_at`,
);

interface ComparedRow extends Omit<PartnerDifference, "theirMicros" | "ourMicros" | "differencePercent" | "level"> {
  theirs: string;
  ours: string;
}

const COMPARED_DAYS = 92;
/** More than the rows of a year, by country and placement. */
const MAX_BYTES = 16 * 1024 * 1024;

// Unnamed, since people run it rarely: it reads the impressions of the compared days, which are in few partitions. A day that
// a report leaves out between two others is one of which the partner says nothing was shown.
const compare: Statement<ComparedRow> = {
  name: "",
  text: `with imported as (
     select * from partner_days where ($1::text is null or buyer_id = $1) and day > $2::date - ${COMPARED_DAYS}
   ), spans as (
     select buyer_id, min(day) as low, max(day) as high from imported group by buyer_id
   ), reported as (
     select spans.buyer_id, at::date as day, latest.time_zone, latest.imported_at,
       case when latest.day = at::date then latest.impressions else 0 end as impressions,
       case when latest.day = at::date then latest.amount_micros else 0 end as amount_micros
     from spans cross join generate_series(low::timestamp, high::timestamp, interval '1 day') as at
     cross join lateral (
       select * from imported where imported.buyer_id = spans.buyer_id and imported.day <= at::date order by day desc limit 1
     ) as latest
   ), shown as (
     select buyer_id, day, count(*) as impressions, sum(price_micros) as micros
     from reported join buyers using (buyer_id) join bought_impressions on bought_impressions.campaign_id = buyers.campaign_id
       and (shown_at at time zone time_zone)::date = day
     where opened_at > $2::date - ${COMPARED_DAYS + 3} group by buyer_id, day
   )
   select buyer_id as "buyerId", day::text, time_zone as "timeZone", imported_at as "importedAt",
     (select name from buyers join advertisers using (advertiser_id) where buyers.buyer_id = reported.buyer_id) as name,
     reported.impressions as "theirImpressions", coalesce(shown.impressions, 0)::bigint as "ourImpressions",
     amount_micros::text as theirs, coalesce(micros, 0)::text as ours
   from reported left join shown using (buyer_id, day) order by day desc, buyer_id`,
};

/** Where their amount is more than so many percent from ours, the level is another one. */
const GREEN_PERCENT = 2;
const AMBER_PERCENT = 5;

/** Of their amount from ours, in percent to a tenth; null: there is nothing that it is a part of. */
function differenceOf(theirs: bigint, ours: bigint): { percent: number | null; level: DifferenceLevel } {
  if (ours === 0n) return theirs === 0n ? { percent: 0, level: "green" } : { percent: null, level: "red" };
  const percent = Math.round(Number(((theirs - ours) * 1_000_000n) / ours) / 1000) / 10;
  const distance = Math.abs(Number(((theirs - ours) * 1_000_000n) / ours)) / 10_000;
  return { percent, level: distance <= GREEN_PERCENT ? "green" : distance <= AMBER_PERCENT ? "amber" : "red" };
}

/** Reports of partners beside what was shown here. */
export function partnerReportOperatorRoutes(
  scope: CheckedScope,
  { database, currency, now }: { database: Database; currency: string; now: () => Date },
): void {
  serveOperatorRoutes(scope, partnerReportRoutes, {
    async importPartnerReport({ params: { buyerId }, query, body, http }) {
      await requireBuyer(database, buyerId);
      const { timeZone, ...columns } = query;
      const bytes = await readAtMost(body, MAX_BYTES + 1);
      if (bytes.byteLength > MAX_BYTES)
        throw invalidField("file", `has more than ${MAX_BYTES} bytes`, fieldFault("REPORT_TOO_LARGE", { max: "16" }));
      const read = readReport(new TextDecoder().decode(bytes), columns);
      if (read.outcome === "refused") throw invalidField("file", read.message, read.fault);
      const { days } = read;
      const reported = days.map(({ day, impressions, amountMicros }) => ({
        day,
        impressions,
        amount_micros: amountMicros,
      }));
      await database.transaction(async (tx) => {
        const change = await openChange(tx, authorOf(http), buyerId);
        await tx.run(store, [...rows.values(reported), buyerId, timeZone, now()]);
        await audit(tx, change);
      });
      return { buyerId, days: days.length, from: days[0]?.day ?? "", to: days.at(-1)?.day ?? "" };
    },

    async listPartnerDifferences({ query: { buyerId, threshold, limit } }) {
      const found = await database.run(compare, [buyerId ?? null, now()]);
      const differences = found.map(({ theirs, ours, ...row }): PartnerDifference => {
        const { percent, level } = differenceOf(BigInt(theirs), BigInt(ours));
        const amounts = { theirMicros: jsonInteger(BigInt(theirs)), ourMicros: jsonInteger(BigInt(ours)) };
        return { ...row, ...amounts, differencePercent: percent, level };
      });
      const isOver = ({ differencePercent: percent }: PartnerDifference) =>
        percent === null || Math.abs(percent) > threshold;
      const over = differences.filter(isOver);
      return { currency, days: found.length, total: over.length, differences: over.slice(0, limit) };
    },
  });
}

import { codeAlphabet, codeWeekAt } from "../../packages/ad-core/src/code.ts";
import { weekStart } from "../../packages/postgres/src/partitions.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** A letter of a code tells so much of its week. */
const HOURS_MS = 3 * 60 * 60 * 1000;

/** So many codes, which were issued in the order of their numbers, from 1 on, in equal steps. */
export interface FilledPeriod {
  readonly codes: number;
  readonly days: number;
  /** Midnight, as sums of statistics are of whole days. */
  readonly from: Date;
  readonly until: Date;
  readonly stepMicroseconds: number;
}

/** The period until the last midnight (UTC). */
export function filledPeriod({ codes, days }: Pick<FilledPeriod, "codes" | "days">): FilledPeriod {
  const until = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const from = until - days * DAY_MS;
  const stepMicroseconds = Math.floor((days * DAY_MS * 1000) / codes);
  return { codes, days, from: new Date(from), until: new Date(until), stepMicroseconds };
}

/** Numbers of codes; both ends are included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** The numbers of the codes that were issued from `fromMs` on and before `toMs`; none if `first` is above `last`. */
export function numbersBetween(period: FilledPeriod, { fromMs, toMs }: { fromMs: number; toMs: number }): NumberRange {
  const firstFrom = (ms: number) => Math.ceil(((ms - period.from.getTime()) * 1000) / period.stepMicroseconds);
  return { first: Math.max(1, firstFrom(fromMs)), last: Math.min(period.codes, firstFrom(toMs) - 1) };
}

/**
 * SQL functions of a code's number from which all rows are made, so that the tables agree. PostgreSQL can inline them: they
 * call only functions that are immutable, and `timestamptz + interval` is not. Users have four codes each.
 */
export function functionsFor(period: FilledPeriod, bot: { botId: string; codePrefix: string }): string[] {
  const { codes, from, until, stepMicroseconds } = period;
  const users = Math.floor(codes / 4) + 1;
  const define = (head: string, body: string) =>
    `create function bench_growth.${head} language sql immutable parallel safe return ${body}`;
  const firstWeek = weekStart(from.getTime());
  const letters: string[] = [];
  for (let week = firstWeek; week <= until.getTime(); week += WEEK_MS) letters.push(codeWeekAt(week));
  const milliseconds = "lpad(to_hex(bench_growth.microseconds_of(n) / 1000), 12, '0')";
  return [
    define("microseconds_of(n bigint) returns bigint", `${from.getTime() * 1000} + n * ${stepMicroseconds}`),
    define("time_of(n bigint) returns timestamptz", "to_timestamp(bench_growth.microseconds_of(n) / 1e6::float8)"),
    define("user_of(n bigint) returns text", `(2000000000 + n % ${users})::text`),
    define(
      "week_of(n bigint) returns text",
      `('{${letters.join(",")}}'::text[])[
        (bench_growth.microseconds_of(n) - ${firstWeek * 1000}) / ${WEEK_MS * 1000} + 1]`,
    ),
    define(
      "hours_of(n bigint) returns text",
      `substr('${codeAlphabet}', ((bench_growth.microseconds_of(n) - ${firstWeek * 1000})
        % ${WEEK_MS * 1000} / ${HOURS_MS * 1000})::integer + 1, 1)`,
    ),
    // 66 bits of a hash, in the alphabet of codes.
    define(
      "code_of(n bigint) returns text",
      `bench_growth.week_of(n) || '${bot.codePrefix}' || bench_growth.hours_of(n) ||
        translate(substr(encode(decode(md5(n::text), 'hex'), 'base64'), 1, 11), '+/01OIlo', '23456789')`,
    ),
    define(
      "view_of(n bigint) returns text",
      `'${bot.botId}-' || bench_growth.week_of(n) || bench_growth.hours_of(n) || substr(md5('view' || n), 1, 22)`,
    ),
    // UUIDv7: 48 bits of time, then a hash.
    define(
      "uuid_of(n bigint) returns text",
      `substr(${milliseconds}, 1, 8) || '-' || substr(${milliseconds}, 9) || '-7' || substr(md5(n::text), 1, 3)
        || '-8' || substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 7, 12)`,
    ),
  ];
}

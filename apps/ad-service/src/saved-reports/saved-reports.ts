import { randomBytes } from "node:crypto";
import { MAX_SAVED_REPORTS, type SavedReport } from "@intermission/operator-api/saved-reports";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, statement } from "@intermission/postgres/open-database";
import bs58 from "bs58";
import { type MailTimes, nextMail } from "./mail-moments.ts";
import { lockSchedule } from "./report-mails.ts";

/** A row of the statements, in whose JSON times are text. */
type Row = Omit<SavedReport, "mails"> & { mails: Wire<NonNullable<SavedReport["mails"]>> | null };
type Wire<Value> = Value extends Date
  ? string
  : Value extends object
    ? { [Field in keyof Value]: Wire<Value[Field]> }
    : Value;

const columns = `saved_report_id as "savedReportId", name, search, saved_at as "savedAt", (
  select jsonb_build_object('every', every, 'hour', hour, 'timeZone', time_zone, 'hasCsv', has_csv, 'nextAt', next_at,
    'ended', ended, 'last', (
      select jsonb_build_object('dueAt', due_at, 'state', state, 'error', error) from report_mails
      where report_mails.saved_report_id = report_schedules.saved_report_id order by day desc limit 1))
  from report_schedules where report_schedules.saved_report_id = saved_reports.saved_report_id) as mails`;

function reportOf({ mails, ...report }: Row): SavedReport {
  if (mails === null) return { ...report, mails };
  const { nextAt, last, ...times } = mails;
  return {
    ...report,
    mails: {
      ...times,
      nextAt: nextAt === null ? null : new Date(nextAt),
      last: last && { ...last, dueAt: new Date(last.dueAt) },
    },
  };
}

const list = statement<Row>(
  "saved-reports.list",
  `select ${columns} from saved_reports
   where person_id = $1 and ($2::text is null or lower(name) > (
     select lower(last.name) from saved_reports as last where last.saved_report_id = $2 and last.person_id = $1))
   order by lower(name) limit $3`,
);

/** A person's saved reports in the order of their names, after the report with the id `after`. */
export async function listSavedReports(
  database: Pick<Database, "run">,
  of: { personId: string; after?: string | undefined; limit: number },
): Promise<ListPage<SavedReport>> {
  const rows = await database.run(list, [of.personId, of.after, of.limit + 1]);
  return listPage(rows.map(reportOf), of.limit, ({ savedReportId }) => savedReportId);
}

const find = statement<Row>(
  "saved-reports.find",
  `select ${columns} from saved_reports where saved_report_id = $1 and person_id = $2`,
);

export async function findSavedReport(
  database: Pick<Database, "run">,
  of: { savedReportId: string; personId: string },
): Promise<SavedReport | undefined> {
  return (await database.run(find, [of.savedReportId, of.personId])).map(reportOf)[0];
}

type SaveOutcome = { outcome: "saved"; report: SavedReport } | { outcome: "known-name" } | { outcome: "too-many" };

// Requests of one person run one after another, so that the number of reports is bounded.
const lockPerson = statement<{ person: string }>(
  "saved-reports.lock-person",
  "select person_id as person from people where person_id = $1 for no key update",
);
const insert = statement<Row>(
  "saved-reports.insert",
  `insert into saved_reports (saved_report_id, person_id, name, search, saved_at) values ($1, $2, $3, $4, $5)
   on conflict (person_id, lower(name)) do nothing returning ${columns}`,
);

export function newSavedReportId(): string {
  return `rep_${bs58.encode(randomBytes(9))}`;
}

/** Saves a report. Its name must be unique for the person, ignoring case. */
export async function saveReport(
  database: Pick<Database, "transaction">,
  report: Pick<SavedReport, "savedReportId" | "name" | "search"> & {
    personId: string;
    author?: Author | undefined;
    now: Date;
  },
): Promise<SaveOutcome> {
  const { savedReportId, personId, name, search, author, now } = report;
  return database.transaction<SaveOutcome>(async (tx) => {
    const change = await openChange(tx, author, savedReportId);
    await tx.run(lockPerson, [personId]);
    if ((await tx.run(list, [personId, null, MAX_SAVED_REPORTS])).length === MAX_SAVED_REPORTS)
      return { outcome: "too-many" };
    const [saved] = await tx.run(insert, [savedReportId, personId, name, search, now]);
    if (saved === undefined) return { outcome: "known-name" };
    await audit(tx, change);
    return { outcome: "saved", report: reportOf(saved) };
  });
}

const remove = statement<Row>(
  "saved-reports.remove",
  `delete from saved_reports where saved_report_id = $1 and person_id = $2 returning ${columns}`,
);

interface OwnReport {
  savedReportId: string;
  personId: string;
  author?: Author | undefined;
}

/** Undefined: the person has no such report. */
export async function removeSavedReport(
  database: Pick<Database, "transaction">,
  { savedReportId, personId, author }: OwnReport,
): Promise<SavedReport | undefined> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, savedReportId);
    const [removed] = await tx.run(remove, [savedReportId, personId]);
    if (removed === undefined) return undefined;
    await audit(tx, change);
    return reportOf(removed);
  });
}

const schedule = statement<never>(
  "saved-reports.schedule",
  `insert into report_schedules (saved_report_id, every, hour, time_zone, has_csv, next_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (saved_report_id) do update set every = excluded.every, hour = excluded.hour,
     time_zone = excluded.time_zone, has_csv = excluded.has_csv, next_at = excluded.next_at, ended = null`,
);
const readLastDay = statement<{ day: string | null }>(
  "saved-reports.last-mailed-day",
  "select max(day)::text as day from report_mails where saved_report_id = $1",
);
const unschedule = statement<never>(
  "saved-reports.unschedule",
  `with ended as (
     update report_mails set state = 'failed', error = 'stopped', try_at = null
     where saved_report_id = $1 and state = 'waiting')
   delete from report_schedules where saved_report_id = $1`,
);

/** Sets the times at which a report is mailed; null: never. Undefined: the person has no such report. */
export async function scheduleReport(
  database: Pick<Database, "transaction">,
  { savedReportId, personId, author, now }: OwnReport & { now: Date },
  mails: (MailTimes & { hasCsv: boolean }) | null,
): Promise<SavedReport | undefined> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, savedReportId);
    if ((await findSavedReport(tx, { savedReportId, personId })) === undefined) return undefined;
    await tx.run(lockSchedule, [savedReportId]);
    if (mails === null) await tx.run(unschedule, [savedReportId]);
    else {
      const { every, hour, timeZone, hasCsv } = mails;
      const [last] = await tx.run(readLastDay, [savedReportId]);
      const next = nextMail(mails, now, last?.day ?? undefined);
      await tx.run(schedule, [savedReportId, every, hour, timeZone, hasCsv, next.at]);
    }
    await audit(tx, change);
    return findSavedReport(tx, { savedReportId, personId });
  });
}

import { createHash, randomBytes } from "node:crypto";
import { type ReportAddress, readReportAddress } from "@intermission/operator-api/report-address";
import type { ScheduleEnd } from "@intermission/operator-api/saved-reports";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import { type Database, statement } from "@intermission/postgres/open-database";
import { latestMail, type MailTimes, nextMail } from "./mail-moments.ts";
import { endOfRight, type Reader } from "./mail-right.ts";

const MAX_AT_ONCE = 16;
/** Longer than making and sending a mail can take. */
const LEASE_MINUTES = 10;
/** Rows of mails, and therefore their links, are kept for so many days. */
const KEPT_DAYS = 400;

interface Due extends MailTimes, Reader {
  savedReportId: string;
  search: string;
}

const readDue = statement<Due>(
  "report-mails.read-due",
  `select saved_report_id as "savedReportId", every, hour, time_zone as "timeZone", search, role, bot_ids as "botIds",
     advertiser_id as "advertiserId", is_disabled as "isDisabled"
   from report_schedules join saved_reports using (saved_report_id) join people using (person_id)
   where next_at <= $1 order by next_at limit ${MAX_AT_ONCE} for update of report_schedules skip locked`,
);
const add = statement<never>(
  "report-mails.add",
  `with moved as (update report_schedules set next_at = $4 where saved_report_id = $1),
   forgotten as (delete from report_mails where saved_report_id = $1 and day < $2::date - ${KEPT_DAYS})
   insert into report_mails (saved_report_id, day, due_at, state, try_at) values ($1, $2, $3, 'waiting', $3)
   on conflict (saved_report_id, day) do nothing`,
);
/** Transactions lock the schedule before they add or end its mails, so that each sees the writes of the one before. */
export const lockSchedule = statement<{ isLive: boolean }>(
  "report-mails.lock-schedule",
  `select ended is null as "isLive" from report_schedules where saved_report_id = $1 for update`,
);
const end = statement<{ savedReportId: string }>(
  "report-mails.end-schedule",
  `with ended as (
     update report_mails set state = 'failed', error = $2, try_at = null where saved_report_id = $1 and state = 'waiting')
   update report_schedules set next_at = null, ended = $2 where saved_report_id = $1 and ended is null
   returning saved_report_id as "savedReportId"`,
);

/** The address of the report; its zone defaults to that of the mails. */
export const addressOf = ({ search, timeZone }: Pick<Due, "search" | "timeZone">): ReportAddress => ({
  zone: timeZone,
  ...readReportAddress(search),
});

/** Adds a mail for each due schedule, and ends schedules whose person may no longer read the report. */
export async function addDueMails(database: Pick<Database, "transaction">, now: Date): Promise<{ hasMore: boolean }> {
  return database.transaction(async (tx) => {
    const due = await tx.run(readDue, [now]);
    for (const one of due) {
      const reason = endOfRight(one, addressOf(one));
      const { day, at } = latestMail(one, now);
      if (reason !== undefined) await tx.run(end, [one.savedReportId, reason]);
      else await tx.run(add, [one.savedReportId, day, at, nextMail(one, now).at]);
    }
    return { hasMore: due.length === MAX_AT_ONCE };
  });
}

/** Returns whether the schedule was active until now. */
export async function endSchedule(
  database: Pick<Database, "transaction">,
  { savedReportId, reason }: { savedReportId: string; reason: ScheduleEnd },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    await tx.run(lockSchedule, [savedReportId]);
    return (await tx.run(end, [savedReportId, reason])).length > 0;
  });
}

export interface ClaimedMail extends Due {
  day: string;
  dueAt: Date;
  /** Includes the current attempt, and identifies the claim. */
  attempts: number;
  hasCsv: boolean;
  name: string;
  email: string;
  language: StatementLanguage;
}

// A node died while it sent the mail, so the outcome is unknown. The mail is not repeated: a duplicate would be worse.
const endUnknown = statement<never>(
  "report-mails.end-unknown",
  "update report_mails set state = 'unknown', try_at = null where state = 'sending' and try_at <= $1",
);
const claim = statement<ClaimedMail>(
  "report-mails.claim",
  `with due as (
     select saved_report_id, day from report_mails where state = 'waiting' and try_at <= $1 and exists (
       select from report_schedules as live where live.saved_report_id = report_mails.saved_report_id and ended is null)
     order by try_at limit ${MAX_AT_ONCE} for update skip locked
   ),
   claimed as (
     update report_mails set try_at = $1::timestamptz + interval '${LEASE_MINUTES} minutes', attempts = attempts + 1
     from due where report_mails.saved_report_id = due.saved_report_id and report_mails.day = due.day
     returning report_mails.saved_report_id, report_mails.day, due_at, attempts
   )
   select saved_report_id as "savedReportId", day::text, due_at as "dueAt", attempts, every, hour, time_zone as "timeZone",
     has_csv as "hasCsv", name, search, email, role, bot_ids as "botIds", advertiser_id as "advertiserId",
     is_disabled as "isDisabled", coalesce(language, 'en') as language
   from claimed join report_schedules using (saved_report_id) join saved_reports using (saved_report_id)
     join people using (person_id) left join alert_settings using (person_id)`,
);

/** Claims waiting mails; only one node gets each mail. */
export async function claimMails(database: Pick<Database, "run">, now: Date): Promise<ClaimedMail[]> {
  await database.run(endUnknown, [now]);
  return database.run(claim, [now]);
}

const begin = statement<{ one: number }>(
  "report-mails.begin",
  `update report_mails set state = 'sending', token_hash = $4, try_at = $5::timestamptz + interval '${LEASE_MINUTES} minutes'
   where saved_report_id = $1 and day = $2::date and attempts = $3 and state = 'waiting' returning 1 as one`,
);
const finish = statement<never>(
  "report-mails.finish",
  `update report_mails set state = $4, error = $5, try_at = $6
   where saved_report_id = $1 and day = $2::date and attempts = $3 and state <> 'failed'`,
);

const hashOf = (token: string) => createHash("sha256").update(token).digest();
type ClaimKey = Pick<ClaimedMail, "savedReportId" | "day" | "attempts">;

/** After this call the mail is sent at most once. Returns the token of its link; undefined: another node has taken it. */
export async function beginMail(
  database: Pick<Database, "run">,
  { savedReportId, day, attempts }: ClaimKey,
  now: Date,
): Promise<string | undefined> {
  const token = randomBytes(24).toString("base64url");
  const begun = await database.run(begin, [savedReportId, day, attempts, hashOf(token), now]);
  return begun.length > 0 ? token : undefined;
}

/** `tryAt`: the time of the next attempt, unless the schedule has ended meanwhile. */
export async function finishMail(
  database: Pick<Database, "transaction">,
  { savedReportId, day, attempts }: ClaimKey,
  {
    state,
    error,
    tryAt,
  }: { state: "waiting" | "sent" | "failed" | "unknown"; error: string | null; tryAt: Date | null },
): Promise<void> {
  await database.transaction(async (tx) => {
    const [schedule] = await tx.run(lockSchedule, [savedReportId]);
    const outcome = state === "waiting" && !schedule?.isLive ? ["failed", error, null] : [state, error, tryAt];
    await tx.run(finish, [savedReportId, day, attempts, ...outcome]);
  });
}

const findByToken = statement<{ savedReportId: string; name: string; isMailed: boolean }>(
  "report-mails.find-by-token",
  `select saved_report_id as "savedReportId", name, every is not null and ended is null as "isMailed"
   from report_mails join saved_reports using (saved_report_id) left join report_schedules using (saved_report_id)
   where token_hash = $1`,
);

/** Finds the report of a mail by the token of its link. */
export async function reportOfToken(database: Pick<Database, "run">, token: string) {
  return (await database.run(findByToken, [hashOf(token)]))[0];
}

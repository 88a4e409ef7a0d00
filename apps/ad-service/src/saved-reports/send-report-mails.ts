import { readerOfRole } from "@intermission/operator-api/access";
import { daysOf, type ReportAddress, reportQueryOf } from "@intermission/operator-api/report-address";
import { statisticsRoutes } from "@intermission/operator-api/statistics";
import type { Database } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { HttpError } from "@intermission/server/http-server";
import { type NoticeSettings, sendMail } from "../notices/messages.ts";
import { exportReport, type ReportDeps } from "../statistics/report-question.ts";
import { reportedAt } from "./mail-moments.ts";
import { endOfRight, ownObjects } from "./mail-right.ts";
import { type CsvOutcome, reportMail } from "./mail-text.ts";
import {
  addDueMails,
  addressOf,
  beginMail,
  type ClaimedMail,
  claimMails,
  endSchedule,
  finishMail,
} from "./report-mails.ts";

const LOOK_EVERY_MS = 10_000;
const RETRY_SECONDS = [60, 300, 1800, 7200];
/** Many mail servers refuse more than ten megabytes, and an attachment grows when it is encoded. */
const MAX_CSV_BYTES = 5_000_000;

export interface SendReportMails extends ReportDeps {
  database: Database;
  settings: NoticeSettings;
  consoleUrl: string;
  publicUrl: string;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
}

/** Mails saved reports until it is stopped. Any number of nodes may run it. */
export function startSendingReports(deps: SendReportMails): BackgroundLoop {
  return startLoop({
    everyMs: LOOK_EVERY_MS,
    round: async () => ((await sendReportMails(deps)).hasMore ? 0 : undefined),
    onFault: (error) => deps.log.error({ err: error }, "saved reports could not be mailed; trying again"),
  });
}

/** Without a mail server due schedules wait. Once a server is set, each schedule sends one mail. */
export async function sendReportMails(deps: SendReportMails): Promise<{ hasMore: boolean }> {
  const { database, settings, now } = deps;
  if (settings.smtpUrl === undefined) return { hasMore: false };
  const { hasMore } = await addDueMails(database, now());
  for (const mail of await claimMails(database, now())) await sendClaimed(deps, mail);
  return { hasMore };
}

async function sendClaimed(deps: SendReportMails, mail: ClaimedMail): Promise<void> {
  const { database, log, now } = deps;
  const { savedReportId, attempts } = mail;
  const address = addressOf(mail);
  const reason = endOfRight(mail, address);
  if (reason !== undefined) {
    await endSchedule(database, { savedReportId, reason });
    return;
  }
  const delaySeconds = RETRY_SECONDS[attempts - 1];
  const tryAt = delaySeconds === undefined ? null : new Date(now().getTime() + delaySeconds * 1000);
  const postpone = async (error: string) => {
    await finishMail(database, mail, { state: tryAt === null ? "failed" : "waiting", error, tryAt });
    const after = tryAt === null ? "given up until the next one is due" : "trying again";
    log.warn({ savedReportId, error }, `a saved report could not be mailed; ${after}`);
  };
  // The text, the link and the file share one moment, so that they show the same days.
  const report = { address, asOf: reportedAt(address, mail.dueAt) };
  const file = await csvOf(deps, mail, report).catch((error: unknown) => {
    log.error({ err: error, savedReportId }, "the file of a saved report could not be made");
    return undefined;
  });
  if (file === undefined) return postpone("the report could not be read");
  const token = await beginMail(database, mail, now());
  if (token === undefined) return;
  const sent = await sendNow(deps, mail, { report, file, token });
  if (sent.outcome === "sent") await finishMail(database, mail, { state: "sent", error: null, tryAt: null });
  else if (sent.isUnknown) await finishMail(database, mail, { state: "unknown", error: sent.error, tryAt: null });
  else await postpone(sent.error);
}

interface MailedReport {
  address: ReportAddress;
  asOf: Date;
}

type ReportFile = { outcome: CsvOutcome; attachments?: { filename: string; content: string; contentType: string }[] };

/** Throws on temporary faults, such as an unreachable store; the mail names permanent ones. */
async function csvOf(deps: SendReportMails, mail: ClaimedMail, { address, asOf }: MailedReport): Promise<ReportFile> {
  if (!mail.hasCsv) return { outcome: "not-chosen" };
  const query = statisticsRoutes.exportStats.query.safeParse({
    ...reportQueryOf(address, asOf),
    ...ownObjects(mail, address),
  });
  if (!query.success) return { outcome: "not-readable" };
  try {
    const { name, csv } = await exportReport({ ...deps, now: () => asOf }, query.data, readerOfRole[mail.role]);
    if (Buffer.byteLength(csv) > MAX_CSV_BYTES) return { outcome: "too-large" };
    return {
      outcome: "attached",
      attachments: [{ filename: name, content: csv, contentType: "text/csv; charset=utf-8" }],
    };
  } catch (error) {
    if (error instanceof HttpError && error.statusCode < 500) return { outcome: "not-readable" };
    throw error;
  }
}

function sendNow(
  { settings, consoleUrl, publicUrl }: SendReportMails,
  mail: ClaimedMail,
  {
    report: { address, asOf },
    file: { outcome, attachments },
    token,
  }: { report: MailedReport; file: ReportFile; token: string },
) {
  const unsubscribeUrl = `${publicUrl}/unsubscribe/${token}`;
  const facts = { ...mail, address, days: daysOf(address, asOf), csv: outcome, consoleUrl, unsubscribeUrl };
  return sendMail(settings, {
    id: `report-${mail.savedReportId}-${mail.day}`,
    to: mail.email,
    ...reportMail(facts),
    // RFC 8058: mail programs show a button for unsubscribing.
    headers: { "List-Unsubscribe": `<${unsubscribeUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
    ...(attachments && { attachments }),
  });
}

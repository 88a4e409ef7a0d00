import type { AlertCause, AlertChannel } from "@intermission/operator-api/alerts";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { type NoticeSettings, type SentNotice, sendChatMessage, sendMail } from "../notices/messages.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { alertWords } from "./alert-words.ts";

/** Of the channels, those to which messages are sent. */
type MessageChannel = Exclude<AlertChannel, "console">;

export interface SendAlerts {
  database: Database;
  requests: Pick<GuardedRequests, "guardedRequest">;
  settings: NoticeSettings;
  /** The console's address. */
  consoleUrl: string;
  log: { warn(facts: object, message: string): void };
  now: () => Date;
}

/** Between two messages to one person about one cause: what comes meanwhile stands in the next one. */
const QUIET_SECONDS = 3600;
const RETRY_SECONDS = [60, 300, 1800];
const MAX_AT_ONCE = 16;
/** A message names so many, and counts the others. */
const MAX_LISTED = 10;

interface ClaimedMessage {
  personId: string;
  cause: AlertCause;
  channel: MessageChannel;
  failures: number;
  email: string;
  language: StatementLanguage;
  telegramChatId: string | null;
}

/**
 * Claims messages that are due: the row of person, cause and channel is changed only if its quiet time is over, which of
 * several nodes one finds. $1: now. $2: the channels that are set up.
 */
const claim: Statement<ClaimedMessage> = {
  name: "",
  text: `with due as (
     select distinct person_id, cause, channel from alerts cross join unnest(unsent) as channel
     join people using (person_id) left join alert_messages using (person_id, cause, channel)
     where unsent <> '{}' and not is_disabled and channel = any ($2) and (quiet_until is null or quiet_until <= $1)
     order by person_id, cause, channel limit ${MAX_AT_ONCE}
   ),
   claimed as (
     insert into alert_messages (person_id, cause, channel, quiet_until)
     select person_id, cause, channel, $1::timestamptz + interval '${QUIET_SECONDS} seconds' from due
     on conflict (person_id, cause, channel) do update set quiet_until = excluded.quiet_until
       where alert_messages.quiet_until <= $1
     returning person_id, cause, channel, failures
   )
   select person_id as "personId", cause, channel, failures, email, coalesce(language, 'en') as language,
     telegram_chat_id as "telegramChatId"
   from claimed join people using (person_id) left join alert_settings using (person_id)`,
};

const readUnsent = statement<{ alertId: string; facts: Record<string, string> }>(
  "alerts.read-unsent",
  `select alert_id::text as "alertId", facts from alerts
   where person_id = $1 and cause = $2 and unsent <> '{}' and $3 = any (unsent) order by alert_id desc`,
);
const finish = statement<never>(
  "alerts.finish-message",
  `with ended as (
     update alert_messages set failures = 0, last_error = $5 where person_id = $1 and cause = $2 and channel = $3
   )
   update alerts set unsent = array_remove(unsent, $3)
   where person_id = $1 and cause = $2 and unsent <> '{}' and alert_id <= $4`,
);
const postpone = statement<never>(
  "alerts.postpone-message",
  `update alert_messages set failures = failures + 1, last_error = $4, quiet_until = $5
   where person_id = $1 and cause = $2 and channel = $3`,
);

/**
 * Sends messages that are due. What could not be sent is tried again, and given up after some tries; what was sent as the
 * process died comes again after the quiet time.
 */
export async function sendAlerts(deps: SendAlerts): Promise<{ hasMore: boolean }> {
  const { database, settings, now } = deps;
  const isSetUp: Record<MessageChannel, boolean> = {
    email: settings.smtpUrl !== undefined,
    telegram: settings.telegramBotToken !== undefined,
  };
  const channels = (Object.keys(isSetUp) as MessageChannel[]).filter((channel) => isSetUp[channel]);
  if (channels.length === 0) return { hasMore: false };
  const claimed = await database.run(claim, [now(), channels]);
  // All end before this round does.
  const ended = await Promise.allSettled(claimed.map((message) => sendClaimed(deps, message)));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return { hasMore: claimed.length === MAX_AT_ONCE };
}

async function sendClaimed(deps: SendAlerts, message: ClaimedMessage): Promise<void> {
  const { database, log, now } = deps;
  const { personId, cause, channel, failures } = message;
  const alerts = await database.run(readUnsent, [personId, cause, channel]);
  const [latest] = alerts;
  if (latest === undefined) return;
  const sent = await sendMessage(deps, message, alerts);
  const key = [personId, cause, channel] as const;
  if (sent.outcome === "sent") {
    await database.run(finish, [...key, latest.alertId, null]);
    return;
  }
  const { error } = sent;
  const delaySeconds = RETRY_SECONDS[failures];
  if (delaySeconds === undefined) await database.run(finish, [...key, latest.alertId, error]);
  else await database.run(postpone, [...key, error, new Date(now().getTime() + delaySeconds * 1000)]);
  const after = delaySeconds === undefined ? "given up" : "trying again";
  log.warn({ personId, cause, channel, error }, `what a person should know could not be sent; ${after}`);
}

function sendMessage(
  deps: SendAlerts,
  { cause, channel, email, telegramChatId, language, personId }: ClaimedMessage,
  alerts: readonly { alertId: string; facts: Record<string, string> }[],
): Promise<SentNotice> {
  const words = alertWords[language];
  const listed = alerts.slice(0, MAX_LISTED).map(({ facts }) => words.sentences[cause](facts));
  const more = alerts.length > MAX_LISTED ? [words.more(alerts.length - MAX_LISTED)] : [];
  const text = `${[...listed, ...more, "", `${words.console} ${deps.consoleUrl}`, words.settings].join("\n")}\n`;
  const subject = words.subjects[cause];
  switch (channel) {
    case "email": {
      const id = `alert-${personId}-${alerts[0]?.alertId ?? 0}`;
      return sendMail(deps.settings, { id, to: email, subject, text });
    }
    case "telegram":
      if (telegramChatId === null)
        return Promise.resolve({ outcome: "failed", error: "the person has no Telegram chat" });
      return sendChatMessage(deps, { chatId: telegramChatId, text: `${subject}\n${text}` });
    default:
      return channel satisfies never;
  }
}

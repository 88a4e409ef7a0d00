import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { NoticeChannel } from "@intermission/operator-api/notices";
import type { Database } from "@intermission/postgres/open-database";
import { createTransport } from "nodemailer";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import { describeNotice, encodeNotice, type Notice } from "./notice.ts";

export interface NoticeSettings {
  /** The operator's mail server, as smtp:// or smtps://; undefined: no e-mail is sent. */
  smtpUrl: string | undefined;
  smtpFrom: string | undefined;
  /** The token of the Telegram bot that sends notices. */
  telegramBotToken: string | undefined;
  telegramApiUrl: string;
}

export interface NoticeAdapters {
  database: Database;
  /** The tokens that sign a bot's webhooks now: the active one, and all of them. */
  tokensOf: (botId: string) => Promise<{ active: string; all: string[] } | undefined>;
  requests: Pick<GuardedRequests, "guardedRequest">;
  settings: NoticeSettings;
  now: () => Date;
}

/** `failed`: why, without secrets. */
export type SentNotice = { outcome: "sent" } | { outcome: "failed"; error: string };

const adapters = {
  webhook: sendWebhookNotice,
  email: sendMail,
  telegram: sendTelegramMessage,
} satisfies Record<NoticeChannel, (deps: NoticeAdapters, notice: Notice) => Promise<SentNotice>>;

/** Sends a notice once. Throws only for faults of this machine or this code. */
export function sendNotice(deps: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  return adapters[notice.channel](deps, notice);
}

/** Signed as events are. */
async function sendWebhookNotice(deps: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  const { botId, noticeId, address } = notice;
  const now = deps.now();
  const tokens = await deps.tokensOf(botId);
  if (!tokens) return { outcome: "failed", error: "the bot has no token to sign with" };
  const body = Buffer.from(encodeNotice(notice));
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const result = await deps.requests.guardedRequest({
    purpose: "webhook",
    method: "POST",
    url: address,
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Intermission-Webhooks/1.0",
      "x-bot-id": botId,
      "x-timestamp": new Date(timestampSeconds * 1000).toISOString().replace(".000Z", "Z"),
      "x-signature": sign(body, tokens.active),
      ...signStandardWebhook({ id: noticeId, timestampSeconds, body, tokens: tokens.all }),
    },
  });
  return sentBy(result);
}

function sentBy(result: GuardedResult): SentNotice {
  if (result.outcome === "failed") return { outcome: "failed", error: result.errorClass };
  const isAccepted = result.status >= 200 && result.status <= 299;
  return isAccepted ? { outcome: "sent" } : { outcome: "failed", error: `status ${result.status}` };
}

const CONNECT_MS = 5000;
const SILENCE_MS = 10_000;

async function sendMail({ settings }: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  const { smtpUrl, smtpFrom } = settings;
  if (smtpUrl === undefined || smtpFrom === undefined)
    return { outcome: "failed", error: "SMTP_URL and SMTP_FROM are not set" };
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const messageId = `<${notice.noticeId}@${new URL(smtpUrl).hostname}>`;
    await transport.sendMail({ from: smtpFrom, to: notice.address, messageId, ...describeNotice(notice) });
    return { outcome: "sent" };
  } catch (error) {
    return { outcome: "failed", error: mailFault(error) };
  } finally {
    transport.close();
  }
}

/** The code and the server's reply number: the text of an error may hold credentials. */
function mailFault(error: unknown): string {
  if (!(error instanceof Error)) return "the mail could not be sent";
  const code = "code" in error ? String(error.code) : error.name;
  return "responseCode" in error ? `${code}: status ${String(error.responseCode)} of the mail server` : code;
}

async function sendTelegramMessage(deps: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  const { telegramBotToken, telegramApiUrl } = deps.settings;
  if (telegramBotToken === undefined) return { outcome: "failed", error: "NOTICE_BOT_TOKEN is not set" };
  const result = await deps.requests.guardedRequest({
    purpose: "webhook",
    method: "POST",
    url: `${telegramApiUrl}/bot${telegramBotToken}/sendMessage`,
    body: JSON.stringify({
      chat_id: notice.address,
      text: describeNotice(notice).text,
      link_preview_options: { is_disabled: true },
    }),
    headers: { "content-type": "application/json" },
  });
  return sentBy(result);
}

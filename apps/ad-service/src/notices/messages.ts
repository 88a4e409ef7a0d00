import { createTransport } from "nodemailer";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";

/** How messages to people are sent. */
export interface NoticeSettings {
  /** The operator's mail server, as smtp:// or smtps://; undefined: no e-mail is sent. */
  smtpUrl: string | undefined;
  smtpFrom: string | undefined;
  /** The token of the Telegram bot that sends notices. */
  telegramBotToken: string | undefined;
  telegramApiUrl: string;
}

/** `error` has no secrets. `isUnknown`: the connection failed while the message was sent, so the server may have accepted it. */
export type SentNotice = { outcome: "sent" } | { outcome: "failed"; error: string; isUnknown?: boolean };

const CONNECT_MS = 5000;
const SILENCE_MS = 10_000;

interface Mail {
  /** The part of its Message-ID before the @: the same on every attempt. */
  id: string;
  to: string;
  subject: string;
  text: string;
  headers?: Readonly<Record<string, string>>;
  attachments?: { filename: string; content: string; contentType: string }[];
}

/** Sends an e-mail of plain text once. */
export async function sendMail({ smtpUrl, smtpFrom }: NoticeSettings, { id, ...mail }: Mail): Promise<SentNotice> {
  if (smtpUrl === undefined || smtpFrom === undefined)
    return { outcome: "failed", error: "SMTP_URL and SMTP_FROM are not set" };
  const progress = { hasBegunMessage: false };
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    transactionLog: true,
    logger: watchCommands(progress),
  });
  try {
    const messageId = `<${id}@${new URL(smtpUrl).hostname}>`;
    await transport.sendMail({ from: smtpFrom, messageId, ...mail });
    return { outcome: "sent" };
  } catch (error) {
    const isAnswered = error instanceof Error && "responseCode" in error && error.responseCode !== undefined;
    return { outcome: "failed", error: mailFault(error), isUnknown: progress.hasBegunMessage && !isAnswered };
  } finally {
    transport.close();
  }
}

/** A logger that logs nothing: it records only whether the message has begun. */
function watchCommands(progress: { hasBegunMessage: boolean }) {
  const watch = (_facts: unknown, line: unknown) => {
    if (line === "DATA") progress.hasBegunMessage = true;
  };
  const ignore = () => {};
  return { level: ignore, trace: ignore, debug: watch, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}

/** The code and the server's reply number: the text of an error may hold credentials. */
function mailFault(error: unknown): string {
  if (!(error instanceof Error)) return "the mail could not be sent";
  const code = "code" in error ? String(error.code) : error.name;
  return "responseCode" in error && error.responseCode !== undefined
    ? `${code}: status ${String(error.responseCode)} of the mail server`
    : code;
}

/** Sends a message to a Telegram chat once. */
export async function sendChatMessage(
  deps: { settings: NoticeSettings; requests: Pick<GuardedRequests, "guardedRequest"> },
  { chatId, text }: { chatId: string; text: string },
): Promise<SentNotice> {
  const { telegramBotToken, telegramApiUrl } = deps.settings;
  if (telegramBotToken === undefined) return { outcome: "failed", error: "NOTICE_BOT_TOKEN is not set" };
  const result = await deps.requests.guardedRequest({
    purpose: "webhook",
    method: "POST",
    url: `${telegramApiUrl}/bot${telegramBotToken}/sendMessage`,
    body: JSON.stringify({ chat_id: chatId, text, link_preview_options: { is_disabled: true } }),
    headers: { "content-type": "application/json" },
  });
  return sentBy(result);
}

export function sentBy(result: GuardedResult): SentNotice {
  if (result.outcome === "failed") return { outcome: "failed", error: result.errorClass };
  const isAccepted = result.status >= 200 && result.status <= 299;
  return isAccepted ? { outcome: "sent" } : { outcome: "failed", error: `status ${result.status}` };
}

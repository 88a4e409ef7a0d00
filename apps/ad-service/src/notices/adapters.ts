import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { NoticeChannel } from "@intermission/operator-api/notices";
import type { Database } from "@intermission/postgres/open-database";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { type NoticeSettings, type SentNotice, sendChatMessage, sendMail, sentBy } from "./messages.ts";
import { describeNotice, encodeNotice, type Notice } from "./notice.ts";

export interface NoticeAdapters {
  database: Database;
  /** The tokens that sign a bot's webhooks now: the active one, and all of them. */
  tokensOf: (botId: string) => Promise<{ active: string; all: string[] } | undefined>;
  requests: Pick<GuardedRequests, "guardedRequest">;
  settings: NoticeSettings;
  now: () => Date;
}

const adapters = {
  webhook: sendWebhookNotice,
  email: sendMailNotice,
  telegram: sendTelegramNotice,
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

function sendMailNotice({ settings }: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  return sendMail(settings, { id: notice.noticeId, to: notice.address, ...describeNotice(notice) });
}

function sendTelegramNotice(deps: NoticeAdapters, notice: Notice): Promise<SentNotice> {
  return sendChatMessage(deps, { chatId: notice.address, text: describeNotice(notice).text });
}

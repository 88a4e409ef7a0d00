import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import { receiverWarnings } from "@intermission/ad-core/client-words";
import { adviseOnWarning } from "@intermission/ad-core/delivery-advice";
import { disabledReasons } from "@intermission/operator-api/endpoints";
import type { NoticeChannel, NoticeHealth } from "@intermission/operator-api/notices";
import { noticeHealth } from "@intermission/operator-api/notices";
import { z } from "zod";

/** Why an endpoint was disabled, or is doubtful. */
export const noticeReason = z.enum([...disabledReasons, ...receiverWarnings]);
export type NoticeReason = z.infer<typeof noticeReason>;

/** One change of an endpoint's health, or the sum of several. */
export interface Notice {
  botId: string;
  channel: NoticeChannel;
  /** A webhook address, an e-mail address, or the id of a Telegram chat. */
  address: string;
  /** The same on every attempt. */
  noticeId: string;
  health: NoticeHealth;
  reason: NoticeReason | null;
  /** The endpoint's address, and the last answer that was not 2xx. */
  url: string | null;
  lastStatus: number | null;
  lastErrorClass: string | null;
  /** Changes since the last notice, this one included. */
  changes: number;
  occurredAt: Date;
}

/** Between two notices to one address: what changes meanwhile is summed up in the next one. */
export const QUIET_SECONDS = 15 * 60;

const RETRY_SECONDS = [30, 120, 600, 3600, 6 * 3600];

/** Seconds from a failed attempt to the next; undefined: the notice is given up. */
export function noticeRetrySeconds(attempts: number): number | undefined {
  return RETRY_SECONDS[attempts - 1];
}

/** The body of a notice that is sent to a webhook address. Fields are added, never changed. */
const endpointNotice = z.object({
  event: z.literal("endpoint_health"),
  event_id: z.string(),
  bot_id: z.string(),
  health: noticeHealth,
  reason: noticeReason.optional(),
  webhook_url: z.string().optional(),
  last_status: z.int().optional(),
  last_error_class: z.string().optional(),
  changes: z.int(),
  occurred_at: z.string(),
});

export function encodeNotice(notice: Notice): string {
  const { reason, url, lastStatus, lastErrorClass } = notice;
  const body: z.infer<typeof endpointNotice> = {
    event: "endpoint_health",
    event_id: notice.noticeId,
    bot_id: notice.botId,
    health: notice.health,
    ...(reason !== null && { reason }),
    ...(url !== null && { webhook_url: url }),
    ...(lastStatus !== null && { last_status: lastStatus }),
    ...(lastErrorClass !== null && { last_error_class: lastErrorClass }),
    changes: notice.changes,
    occurred_at: notice.occurredAt.toISOString(),
  };
  return JSON.stringify(body);
}

const subjects: Record<NoticeHealth, string> = {
  failing: "is failing",
  recovered: "has recovered",
  disabled: "was disabled",
  doubtful: "answers 2xx, but probably does not record events",
};

const warningReasons: Record<ReceiverWarning, string> = {
  "html-answer": adviseOnWarning("html-answer", "publisher"),
  "negative-answer": adviseOnWarning("negative-answer", "publisher"),
  "wrong-signature-accepted": adviseOnWarning("wrong-signature-accepted", "publisher"),
};

const reasons: Record<NoticeReason, string> = {
  operator: "The operator of the ad service disabled it.",
  gone: "It answered only 410 Gone for an hour.",
  failing: "It accepted nothing for five days.",
  ...warningReasons,
};

/** What a person reads, in e-mail and in Telegram. */
export function describeNotice(notice: Notice): { subject: string; text: string } {
  const { botId, health, reason, url, lastStatus, lastErrorClass, changes } = notice;
  const lastFailure = lastErrorClass ?? (lastStatus === null ? undefined : `status ${lastStatus}`);
  const next: Record<NoticeHealth, string> = {
    failing: "Events wait and are sent again with growing delays. Check that the server runs and answers 2xx.",
    recovered: "What waited is being sent.",
    disabled: "Its events are held for 30 days. Once it works again, ask the operator of the ad service to enable it.",
    doubtful: "Events count as delivered, and nothing is sent again. Check the address, then test it once more.",
  };
  const lines = [
    `The webhook address of bot ${botId} ${subjects[health]}${url === null ? "." : `: ${url}`}`,
    ...(reason === null ? [] : [reasons[reason]]),
    ...(health === "recovered" || health === "doubtful" || lastFailure === undefined
      ? []
      : [`Last failure: ${lastFailure}.`]),
    ...(changes > 1 ? [`Its health changed ${changes} times since the last notice.`] : []),
    next[health],
    `Time: ${notice.occurredAt.toISOString()}`,
  ];
  return { subject: `Webhooks of bot ${botId}: the address ${subjects[health]}`, text: `${lines.join("\n")}\n` };
}

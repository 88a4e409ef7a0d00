import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { forms } from "./field-forms.ts";
import { callableAddress, moment } from "./fields.ts";
import { formKinds } from "./form-kinds.ts";
import type { OperatorRoutes } from "./route.ts";

/** How a notice is sent. */
export const noticeChannels = ["webhook", "email", "telegram"] as const;
export type NoticeChannel = (typeof noticeChannels)[number];

/** What a notice says of the endpoint of a bot. */
export const noticeHealth = z.enum(["failing", "recovered", "disabled", "doubtful"]);
export type NoticeHealth = z.output<typeof noticeHealth>;

const addresses = z
  .strictObject({
    webhookUrl: callableAddress.nullable(),
    email: z
      .email("must be an e-mail address such as ops@example.com")
      .max(254)
      .register(formKinds, { kind: "email" })
      .nullable(),
    telegramChatId: z
      .string()
      .regex(forms.TELEGRAM_CHAT, "must be the id of a chat, such as -1001234567890, or its @name")
      .nullable(),
  })
  .partial()
  .meta({ examples: [{ webhookUrl: "https://ops.example.com/endpoint-health", email: "ops@example.com" }] });

const params = z.object({ botId: telegramId });
const answer = z.object({
  botId: z.string(),
  receivers: z.array(
    z.object({
      channel: z.enum(noticeChannels),
      address: z.string(),
      health: noticeHealth.describe("The last one that a notice was made of."),
      lastSentAt: moment.nullable(),
      dueAt: moment.nullable().describe("Of the notice that waits to be sent."),
      attempts: z.int(),
      lastError: z.string().nullable().describe("Why its last attempt failed."),
    }),
  ),
});

export const noticeRoutes = {
  showNotices: {
    method: "GET",
    path: "/bots/:botId/notices",
    access: { ...grants.readers, ...grants.ownBot },
    description:
      "Returns the addresses that are told when the endpoint of a bot fails, recovers, is disabled, or probably records nothing.",
    params,
    answer,
  },
  setNotices: {
    method: "PATCH",
    path: "/bots/:botId/notices",
    access: { ...grants.staff, ...grants.ownBot },
    changes: "notices",
    description: "Sets these addresses, one for each channel; null removes one.",
    params,
    body: addresses,
    answer,
    refusals: [404],
  },
} as const satisfies OperatorRoutes;

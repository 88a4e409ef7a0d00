import { z } from "zod";
import { type Role, roles } from "./access.ts";
import { forms } from "./field-forms.ts";
import { listLimit, moment, namesSetting, next, nothingToChange } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { statementLanguages } from "./statement-languages.ts";

/** Why somebody is told, with the values of its sentence. */
export const alertFacts = {
  /** Less is left than the advertiser spent since yesterday. */
  "money-low": ["name", "amount"],
  "budget-spent": ["name"],
  /** Of a bot's requests in a day, at most half as many are filled as on the day before. */
  "fill-fallen": ["name", "before", "now"],
  /** Of a buyer's latest thousand requests, at most half as many have a bid as of the thousand before. */
  "bids-fallen": ["name", "before", "now"],
  "webhooks-failing": ["name"],
  "videos-waiting": ["count"],
  "campaigns-waiting": ["count"],
  "campaign-approved": ["name"],
  "campaign-refused": ["name", "reason"],
  "money-waiting": ["count"],
  /** Above which amount a second person approves. */
  "approvals-changed": ["before", "after"],
  "views-held": ["count"],
  "payout-due": ["month", "count"],
  "new-device": ["browser"],
} as const satisfies Record<string, readonly string[]>;
export type AlertCause = keyof typeof alertFacts;
export const alertCauses = Object.keys(alertFacts) as AlertCause[];

/** Who is told: of an advertiser or a publisher, those whose own it is. */
export const rolesOfCause = {
  "money-low": ["owner", "ad-ops", "finance", "advertiser"],
  "budget-spent": ["owner", "ad-ops", "advertiser"],
  "fill-fallen": ["owner", "ad-ops", "publisher"],
  "bids-fallen": ["owner", "ad-ops"],
  "webhooks-failing": ["owner", "ad-ops", "publisher"],
  "videos-waiting": ["owner", "ad-ops"],
  "campaigns-waiting": ["owner", "ad-ops"],
  "campaign-approved": ["advertiser"],
  "campaign-refused": ["advertiser"],
  "money-waiting": ["owner", "ad-ops", "finance"],
  "approvals-changed": ["owner", "finance"],
  "views-held": ["owner", "ad-ops"],
  "payout-due": ["owner", "finance"],
  "new-device": roles,
} as const satisfies Record<AlertCause, readonly Role[]>;

/** Causes that happen once. Other causes are reported while they last. */
export const momentaryCauses = [
  "campaign-approved",
  "campaign-refused",
  "approvals-changed",
  "new-device",
] as const satisfies AlertCause[];

export const alertChannels = ["console", "email", "telegram"] as const;
export type AlertChannel = (typeof alertChannels)[number];

const cause = z.enum(alertCauses);
const alert = z.object({
  alertId: z.string(),
  cause,
  objectId: z.string().describe("An advertiser, a buyer, a campaign, a bot or a month; empty: the deployment."),
  facts: z.record(z.string(), z.string()).describe("The values of its sentence."),
  madeAt: moment,
  readAt: moment.nullable(),
});
export type Alert = z.output<typeof alert>;

const channels = z.array(z.enum(alertChannels));
const settings = z.object({
  language: z.enum(statementLanguages).describe("Of messages."),
  telegramChatId: z.string().nullable().describe("Of the chat with the bot that sends notices."),
  channels: z.partialRecord(cause, channels).describe("Where the person is told, for each cause of the role."),
  canMail: z.boolean().describe("Whether a mail server is set."),
  canMessage: z.boolean().describe("Whether a Telegram bot is set that sends notices."),
});
export type AlertSettings = z.output<typeof settings>;

export const alertRoutes = {
  listAlerts: {
    method: "GET",
    path: "/alerts",
    access: "signed-in",
    description: "Lists what the person who is signed in was told, the latest first.",
    query: z.object({
      after: z
        .string()
        .regex(/^\d{1,18}$/, "must be the id of an alert")
        .optional(),
      limit: listLimit,
    }),
    answer: z.object({ alerts: z.array(alert), unread: z.int(), next }),
  },
  markAlertsRead: {
    method: "POST",
    path: "/alerts/read",
    access: "signed-in",
    changes: null,
    description: "Marks what the person was told as read, up to an alert and with it.",
    body: z
      .strictObject({ upTo: z.string().regex(/^\d{1,18}$/, "must be the id of an alert") })
      .meta({ examples: [{ upTo: "12" }] }),
    answer: z.object({ unread: z.int() }),
  },
  showAlertSettings: {
    method: "GET",
    path: "/account/alerts",
    access: "signed-in",
    description: "Returns of what and where the person who is signed in is told.",
    answer: settings,
  },
  setAlertSettings: {
    method: "PATCH",
    path: "/account/alerts",
    access: "signed-in",
    changes: "person",
    description: "Changes of what and where the person who is signed in is told.",
    body: z
      .strictObject({
        language: settings.shape.language,
        telegramChatId: z
          .string()
          .regex(forms.TELEGRAM_CHAT, "must be the id of a chat, such as -1001234567890, or its @name")
          .nullable(),
        channels: settings.shape.channels.describe("Of the causes that are named; the others stay."),
      })
      .partial()
      .refine(namesSetting, nothingToChange)
      .meta({ examples: [{ channels: { "new-device": ["console"] } }] }),
    answer: settings,
  },
} as const satisfies OperatorRoutes;

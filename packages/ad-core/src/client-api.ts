import { z } from "zod";
import { clientExamples } from "./api-examples.ts";
import { endpointState, payPerCode, receiverWarnings } from "./client-words.ts";
import { consent } from "./consent.ts";
import { anyEventType } from "./event-words.ts";
import { listedEvent, startParam } from "./listed-event.ts";
import { deliveryState, eventType, isTimeZone, moment, momentInput, telegramId } from "./wire-fields.ts";

/**
 * Requests and responses of `/client/v1`, the ad service's API for publishers.
 *
 * Field names are those on the wire. Published shapes only gain optional fields; fields are never changed or removed.
 */

/** What the bot says it pays. The publisher's ledger decides what it credits. */
export const namedReward = z.object({
  amount: z.int().positive(),
  unit: z
    .record(z.string(), z.record(z.string(), z.string()))
    .describe("The word after the amount, by language and plural category (CLDR, `Intl.PluralRules`)."),
});
export type NamedReward = z.infer<typeof namedReward>;

/** By event. */
export const namedRewards = z
  .object({ rewarded: namedReward.optional(), direct_link: namedReward.optional() })
  .describe("What a view and a click are worth, where the bot's settings name it.");
export type NamedRewards = z.infer<typeof namedRewards>;

/** The bot lets its user into a channel or group for a view. */
const joinDescription = z.object({
  title: z.string().min(1).max(128).describe("The title of the channel or group, as Telegram names it."),
});

export const createCodeRequest = z
  .object({
    bot_id: telegramId,
    user_tg_id: telegramId,
    reference: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe("The publisher's own key. Each reference has a code of its own; the webhook echoes the reference."),
    consent: consent
      .nullable()
      .optional()
      .describe(
        "What the user has consented to, for buyers of ads; null withdraws it, and without it the last one holds.",
      ),
    join: joinDescription
      .optional()
      .describe(
        "A view lets the user into this channel or group, which the mini-app then names in place of the bot's reward. A code that is issued again keeps that of its first request: give each channel a reference of its own.",
      ),
  })
  .meta({ examples: clientExamples.createCodeRequest });
export type CreateCodeRequest = z.infer<typeof createCodeRequest>;

export const createCodeResponse = z
  .object({
    code: z.string(),
    expires_in: z.int().nonnegative().describe("Whole seconds left, rounded down."),
    expires_at: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
      .describe("`YYYY-MM-DDThh:mm:ssZ`, UTC without fractions."),
    direct_link: z
      .string()
      .optional()
      .describe(
        "The address to send to users whose messenger has no mini-apps. Not every service of the contract sends it.",
      ),
    miniapp_url: z
      .string()
      .optional()
      .describe(
        "The address of a `web_app` button of an inline keyboard, which opens the mini-app with this code. Not every service sends it.",
      ),
    rewards: namedRewards.optional(),
  })
  .meta({ examples: clientExamples.createCodeResponse });
export type CreateCodeResponse = z.infer<typeof createCodeResponse>;

/** Every error on every path under `/client/` and `/player/` has this body. */
export const errorEnvelope = z
  .object({
    error: z.object({
      code: z.string().describe("`UPPER_SNAKE`; stable, for programs."),
      message: z.string().describe("For people; may change."),
      details: z.unknown().optional(),
    }),
  })
  .meta({ examples: clientExamples.errorEnvelope });
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

export const viewState = z.enum(["opened", "playing", "watched", "rewarded"]);
export type ViewState = z.infer<typeof viewState>;

export const describeCodeResponse = z
  .object({
    code: z.string(),
    bot_id: telegramId,
    user_tg_id: telegramId,
    reference: z.string().optional(),
    join: joinDescription.optional(),
    start_param: startParam.optional(),
    issued_at: moment,
    expires_at: moment,
    is_expired: z.boolean(),
    earned: z.array(z.object({ event: eventType, event_id: z.string(), occurred_at: moment })),
    can_earn: z
      .array(eventType)
      .optional()
      .describe(
        "What the code can still earn now. Empty once it is used up or expired; a view that has begun may end after that.",
      ),
    pay_per_code: payPerCode
      .optional()
      .describe(
        "The bot's setting: `once`, the code earns one event, a view or a click, whichever comes first; `each`, one of both. Pay by the same rule.",
      ),
    sessions: z.array(
      z.object({
        session_id: z.string(),
        state: viewState,
        opened_at: moment,
        watched_at: moment.nullable(),
        closed_at: moment.nullable(),
        accepted_ms: z.int().nonnegative(),
        duration_ms: z.int().positive(),
        refusals: z.record(z.string(), z.int()).describe("How many reports were refused, by reason."),
        suspicions: z
          .array(z.string())
          .optional()
          .describe("Why the view looks suspicious, if it does. The operator's settings decide the consequence."),
        review: z
          .enum(["held", "refused"])
          .optional()
          .describe(
            "Only with state `watched`, after the view was closed: `held` waits for the operator, `refused` earns nothing.",
          ),
      }),
    ),
    clicks: z
      .record(z.string(), z.int())
      .describe("Visits of the direct link, by outcome (`counted`, or the refusal reason)."),
    requests: z
      .record(z.string(), z.int())
      .optional()
      .describe("Ad requests with this code, by outcome: `filled`, or the reason why not."),
  })
  .meta({ examples: clientExamples.describeCodeResponse });
export type DescribeCodeResponse = z.infer<typeof describeCodeResponse>;

export const unavailableReason = z.enum(["cooldown", "daily-cap", "no-ad", "bot-suspended"]);
export type UnavailableReason = z.infer<typeof unavailableReason>;

export const availabilityResponse = z
  .object({
    available: z.boolean(),
    reason: unavailableReason.optional(),
    available_at: moment.optional().describe("When to retry; absent where unknown."),
    rewards: namedRewards.optional(),
  })
  .meta({ examples: clientExamples.availabilityResponse });
export type AvailabilityResponse = z.infer<typeof availabilityResponse>;

export const listEventsResponse = z
  .object({
    events: z.array(listedEvent),
    next: z
      .string()
      .describe("Pass it as `after` to read on; equal to the `after` of the request while there are no new events."),
    has_more: z.boolean(),
  })
  .meta({ examples: clientExamples.listEventsResponse });
export type ListEventsResponse = z.infer<typeof listEventsResponse>;

export const statsQuery = z.object({
  from: momentInput
    .optional()
    .describe(
      "A date-time with an offset, or a date: its beginning in UTC. Default: seven days before `to`. Widened to whole hours of the time zone.",
    ),
  to: momentInput.optional().describe("The end, exclusive: `to=2026-04-01` ends with March. Default: now."),
  by: z
    .enum(["hour", "day", "campaign", "creative", "reference"])
    .default("day")
    .describe("`reference` splits the events that have a reference by it."),
  time_zone: z
    .string()
    .refine(isTimeZone, "must be a time zone such as Europe/Berlin, or UTC")
    .default("UTC")
    .describe("Of days and hours, as Asia/Kathmandu."),
  reference_prefix: z
    .string()
    .max(128)
    .refine((text) => !text.includes("\0"), "must not contain U+0000")
    .optional()
    .describe(
      "Only events of codes whose `reference` begins with it, such as those of one placement. The answer then has the figures of events alone. By `hour`, `day` or `reference`; at most 100000 events.",
    ),
});

const counts = z.record(z.string(), z.int());

export const statsFigures = z.object({
  requests: z.int().describe("Ad requests that could be granted: `fills` and `no_fills`."),
  fills: z.int(),
  fill_rate: z
    .number()
    .nullable()
    .describe("`fills` divided by `requests`; null without requests. Rates are rounded to four digits."),
  no_fills: counts.describe("By reason."),
  limited: counts.describe("Requests that the bot's own cooldown or cap stopped, by reason."),
  requests_refused: counts.describe("Requests refused because of the code, by reason."),
  starts: z.int(),
  first_quartiles: z.int(),
  midpoints: z.int(),
  third_quartiles: z.int(),
  completions: z.int(),
  completion_rate: z.number().nullable().describe("`completions` divided by `starts`."),
  closes: counts.describe("Views that were completed and closed, by how they were closed."),
  rewards: z.int().describe("Views that earned."),
  views_held: counts.describe("Suspicious views, by suspicion."),
  views_refused: counts,
  clicks: z.int().describe("Visits of direct links that counted."),
  clicks_refused: counts,
  refunds: counts.describe(
    "Refunded charges of views (`rewarded`) and clicks (`direct_link`); their revenue is subtracted.",
  ),
  conversions: z.int(),
  revenue_micros: z.int().describe("The publisher's share of what was charged, in millionths of the currency."),
  ecpm_micros: z.int().nullable().describe("Revenue of views per thousand started views."),
});

export const statsResponse = z
  .object({
    currency: z.string().describe("ISO 4217."),
    from: moment,
    to: moment,
    by: z.enum(["hour", "day", "campaign", "creative"]),
    counted_until: moment
      .optional()
      .describe("Everything before this moment is counted. Absent until the first count."),
    rows: z
      .array(statsFigures.extend({ key: z.string() }))
      .describe('`key`: the day, the beginning of the hour, or an id; "" for figures without an id.'),
    total: statsFigures,
    deliveries: z
      .object({
        delivered: z.int(),
        under_way: z.int(),
        failed: z.int(),
        /** Share of the finished deliveries. */
        success_rate: z.number().nullable(),
        since: moment.optional().describe("Only of events since then: earlier webhooks are no longer kept."),
      })
      .describe("Current state of the webhooks of events in this period."),
  })
  .meta({ examples: clientExamples.statsResponse });
export type StatsResponse = z.infer<typeof statsResponse>;

export const referenceKeys = ["hour", "day", "reference"] as const;
export type ReferenceKey = (typeof referenceKeys)[number];

/** What belongs to a reference: codes have one, ad requests and visits that earn nothing are not counted by it. */
export const referenceFigures = z.object({
  rewards: z.int().describe("Views that earned and were charged."),
  clicks: z.int().describe("Visits of direct links that counted and were charged."),
  users: z.int().describe("How many users earned these."),
  refunds: z.int().describe("How many of these rewards and clicks were refunded, whenever that was."),
  revenue_micros: z
    .int()
    .describe("The publisher's share of what was charged, without the refunded ones, in millionths of the currency."),
});
export type ReferenceFigures = z.infer<typeof referenceFigures>;

/** The answer with `reference_prefix` or by `reference`. */
export const referenceStatsResponse = z
  .object({
    currency: z.string().describe("ISO 4217."),
    from: moment,
    to: moment,
    by: z.enum(referenceKeys),
    reference_prefix: z.string(),
    rows: z
      .array(referenceFigures.extend({ key: z.string() }))
      .describe(
        "`key`: the day, the beginning of the hour, or the reference, the greatest revenue first; at most 1000.",
      ),
    rows_left_out: z.int().optional().describe("How many further rows there are; `total` counts them."),
    total: referenceFigures,
  })
  .meta({ examples: clientExamples.referenceStatsResponse });
export type ReferenceStatsResponse = z.infer<typeof referenceStatsResponse>;

/** What `GET /stats` answers. */
export const anyStatsResponse = z
  .union([statsResponse, referenceStatsResponse])
  .meta({ examples: [...clientExamples.statsResponse, ...clientExamples.referenceStatsResponse] });

export const testWebhookRequest = z
  .object({
    event: eventType.default("rewarded"),
    user_tg_id: telegramId
      .optional()
      .describe('A listed tester of the bot. Default: user `"0"`, whom no receiver rewards.'),
    code: z
      .string()
      .max(64)
      .optional()
      .describe("A code of this tester: the test event carries it, with its reference. The code earns nothing by it."),
  })
  .meta({ examples: clientExamples.testWebhookRequest });

export const testWebhookResponse = z
  .object({
    event_id: z.string(),
    delivered: z.boolean().describe("The endpoint answered 2xx."),
    status: z.int().optional().describe("The status of the endpoint's answer; absent without an answer."),
    error_class: z
      .string()
      .optional()
      .describe("Why there was no valid answer: `dns`, `refused`, `tls`, `timeout-total`, `redirect` …"),
    answer: z.string().optional().describe("The beginning of the answer, or a description of the failure; for people."),
    advice: z.string().optional().describe("What to check, unless all is well; for people."),
    warnings: z
      .array(z.enum(receiverWarnings))
      .optional()
      .describe(
        "Why a 2xx may not mean that the event was recorded: the answer is a web page, says that it failed, or a test event with a wrong signature, which is sent afterwards, got 2xx, too. Others may be added.",
      ),
    total_ms: z.int().nonnegative(),
    endpoint: endpointState
      .optional()
      .describe("The state after the test; absent where the address changed during the test."),
  })
  .meta({ examples: clientExamples.testWebhookResponse });
export type TestWebhookResponse = z.infer<typeof testWebhookResponse>;

export const listAttemptsResponse = z
  .object({
    event_id: z.string(),
    event: anyEventType,
    test: z.literal(true).optional(),
    delivery: deliveryState,
    explanation: z.string().describe("Why the delivery is in this state, and what to do; for people."),
    next_attempt_at: moment.optional().describe("Only while `waiting`."),
    attempts: z
      .array(
        z.object({
          attempt: z.int().positive().describe("Its `webhook-attempt` header."),
          started_at: moment,
          url: z.string().describe("The webhook address at that time."),
          status: z.int().optional().describe("The status of the answer; absent without a valid answer."),
          error_class: z
            .string()
            .optional()
            .describe("Why there was no valid answer: `dns`, `refused`, `tls`, `timeout-total`, `redirect` …"),
          answer: z
            .string()
            .optional()
            .describe("The beginning of the answer, or a description of the failure; for people."),
          advice: z.string().optional().describe("What to check, unless the answer was 2xx; for people."),
          total_ms: z.int().nonnegative().optional(),
          next_at: moment.optional().describe("When the schedule had the next attempt."),
          redelivery: z.literal(true).optional().describe("Requested, outside the schedule."),
        }),
      )
      .describe("Oldest first, at most the latest 200. Kept for 30 days."),
  })
  .meta({ examples: clientExamples.listAttemptsResponse });
export type ListAttemptsResponse = z.infer<typeof listAttemptsResponse>;

export const redeliverEventResponse = z
  .object({
    event_id: z.string(),
    delivery: z.literal("waiting").describe("It is due now. The list of events shows its outcome."),
  })
  .meta({ examples: clientExamples.redeliverEventResponse });
export type RedeliverEventResponse = z.infer<typeof redeliverEventResponse>;

import { z } from "zod";

/**
 * Requests and responses of `/client/v1`, the ad service's API for publishers.
 *
 * Field names are those on the wire. Published shapes only gain optional fields; fields are never changed or removed.
 */

/** A Telegram id on the wire: a string of digits without leading zeros, at most 20 of them. A JSON number is refused. */
export const telegramId = z
  .string()
  .regex(/^[1-9][0-9]{0,19}$/, "must be a string of 1 to 20 digits, without leading zeros");

/** A moment on the wire: RFC 3339 in UTC. */
export const moment = z.iso.datetime();

/**
 * What the bot pays for a view or a click, as its users are told: amounts in a unit, which has a word for each language and
 * plural category (CLDR, `Intl.PluralRules`), at least `other`: `{ "en": { "one": "coin", "other": "coins" } }`.
 */
export const namedReward = z.object({
  per_view: z.int().positive().optional(),
  per_click: z.int().positive().optional(),
  unit: z.record(z.string(), z.record(z.string(), z.string())),
});
export type NamedReward = z.infer<typeof namedReward>;

export const createCodeRequest = z.object({
  bot_id: telegramId,
  user_tg_id: telegramId,
  /** The publisher's own key. Each reference has a code of its own; the webhook echoes the reference. */
  reference: z.string().min(1).max(128).optional(),
});
export type CreateCodeRequest = z.infer<typeof createCodeRequest>;

export const createCodeResponse = z.object({
  code: z.string(),
  /** Whole seconds left, rounded down. */
  expires_in: z.int().nonnegative(),
  /** `YYYY-MM-DDThh:mm:ssZ`, UTC without fractions. */
  expires_at: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
  /** The address to send to users whose messenger has no mini-apps. Not every service of the contract sends it. */
  direct_link: z.string().optional(),
  /** The address of a `web_app` button, which opens the mini-app with this code. Not every service sends it. */
  miniapp_url: z.string().optional(),
  /** Present once the operator has set the bot's reward. */
  reward: namedReward.optional(),
});
export type CreateCodeResponse = z.infer<typeof createCodeResponse>;

/** Every error on every path under `/client/` and `/player/` has this body. */
export const errorEnvelope = z.object({
  error: z.object({
    /** `UPPER_SNAKE`; stable, for programs. */
    code: z.string(),
    /** For people; may change. */
    message: z.string(),
    details: z.unknown().optional(),
  }),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

/** What a code can earn, each at most once. */
export const eventType = z.enum(["rewarded", "direct_link"]);
export type EventType = z.infer<typeof eventType>;

export const sessionState = z.enum(["opened", "playing", "watched", "rewarded"]);
export type SessionState = z.infer<typeof sessionState>;

export const describeCodeResponse = z.object({
  code: z.string(),
  bot_id: telegramId,
  user_tg_id: telegramId,
  reference: z.string().optional(),
  issued_at: moment,
  expires_at: moment,
  is_expired: z.boolean(),
  earned: z.array(z.object({ event: eventType, event_id: z.string(), occurred_at: moment })),
  sessions: z.array(
    z.object({
      session_id: z.string(),
      state: sessionState,
      opened_at: moment,
      watched_at: moment.nullable(),
      closed_at: moment.nullable(),
      accepted_ms: z.int().nonnegative(),
      duration_ms: z.int().positive(),
      /** How many reports were refused, by reason. */
      refusals: z.record(z.string(), z.int()),
      /** Why the view looks suspicious, if it does. The operator's settings decide the consequence. */
      suspicions: z.array(z.string()).optional(),
      /** Only with state `watched`, after the view was closed: `held` waits for the operator, `refused` earns nothing. */
      review: z.enum(["held", "refused"]).optional(),
    }),
  ),
  /** Visits of the direct link, by outcome (`counted`, or the refusal reason). */
  clicks: z.record(z.string(), z.int()),
  /** Ad requests with this code, by outcome: `filled`, or the reason why not. */
  requests: z.record(z.string(), z.int()).optional(),
});
export type DescribeCodeResponse = z.infer<typeof describeCodeResponse>;

export const unavailableReason = z.enum(["cooldown", "daily-cap", "no-ad", "bot-suspended"]);
export type UnavailableReason = z.infer<typeof unavailableReason>;

export const availabilityResponse = z.object({
  available: z.boolean(),
  reason: unavailableReason.optional(),
  /** When to retry; absent where unknown. */
  available_at: moment.optional(),
  /** Present once the operator has set the bot's reward. */
  reward: namedReward.optional(),
});
export type AvailabilityResponse = z.infer<typeof availabilityResponse>;

export const listEventsQuery = z.object({
  after: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

export const listedEvent = z.object({
  event_id: z.string(),
  event: eventType,
  bot_id: telegramId,
  user_tg_id: z.string(),
  code: z.string().optional(),
  reference: z.string().optional(),
  occurred_at: moment,
  test: z.literal(true).optional(),
  /** `waiting` and `held` will be sent, `delivered` was answered 2xx, `failed` and `unknown` are not sent automatically. */
  delivery: z.enum(["waiting", "sending", "delivered", "failed", "held", "unknown"]),
});
export type ListedEvent = z.infer<typeof listedEvent>;

export const listEventsResponse = z.object({
  events: z.array(listedEvent),
  /** Pass it as `after` to read on; equal to the `after` of the request while there are no new events. */
  next: z.string(),
  has_more: z.boolean(),
});
export type ListEventsResponse = z.infer<typeof listEventsResponse>;

/** A moment, or a day, which stands for its beginning in UTC. */
const momentOrDay = z.union([moment, z.iso.date()]);

export const statsQuery = z.object({
  /** Default: seven days before `to`. Widened to whole hours of UTC. */
  from: momentOrDay.optional(),
  /** The end, exclusive. Default: now. */
  to: momentOrDay.optional(),
  by: z.enum(["hour", "day", "campaign", "creative"]).default("day"),
});

const counts = z.record(z.string(), z.int());

export const statsFigures = z.object({
  /** Ad requests that could be granted: `fills` and `no_fills`. */
  requests: z.int(),
  fills: z.int(),
  /** `fills` divided by `requests`; null without requests. Rates are rounded to four digits. */
  fill_rate: z.number().nullable(),
  /** By reason. */
  no_fills: counts,
  /** Requests that the bot's own cooldown or cap stopped, by reason. */
  limited: counts,
  /** Requests refused because of the code, by reason. */
  requests_refused: counts,
  starts: z.int(),
  first_quartiles: z.int(),
  midpoints: z.int(),
  third_quartiles: z.int(),
  completions: z.int(),
  /** `completions` divided by `starts`. */
  completion_rate: z.number().nullable(),
  /** Views that were completed and closed, by how they were closed. */
  closes: counts,
  /** Views that earned. */
  rewards: z.int(),
  /** Suspicious views, by suspicion. */
  views_held: counts,
  views_refused: counts,
  /** Visits of direct links that counted. */
  clicks: z.int(),
  clicks_refused: counts,
  /** Refunded charges of views (`rewarded`) and clicks (`direct_link`); their revenue is subtracted. */
  refunds: counts,
  conversions: z.int(),
  /** The publisher's share of what was charged, in millionths of the currency. */
  revenue_micros: z.int(),
  /** Revenue of views per thousand started views. */
  ecpm_micros: z.int().nullable(),
});

export const statsResponse = z.object({
  /** ISO 4217. */
  currency: z.string(),
  from: moment,
  to: moment,
  by: statsQuery.shape.by.unwrap(),
  /** Everything before this moment is counted. Absent until the first count. */
  counted_until: moment.optional(),
  /** `key`: the day, the beginning of the hour, or an id; "" for figures without an id. */
  rows: z.array(statsFigures.extend({ key: z.string() })),
  total: statsFigures,
  /** Current state of the webhooks of events in this period. */
  deliveries: z.object({
    delivered: z.int(),
    under_way: z.int(),
    failed: z.int(),
    /** Share of the finished deliveries. */
    success_rate: z.number().nullable(),
  }),
});
export type StatsResponse = z.infer<typeof statsResponse>;

/** Only an active endpoint receives events; a pending one must answer a test webhook with 2xx first. */
export const endpointState = z.enum(["pending", "active", "disabled"]);

export const testWebhookRequest = z.object({
  event: eventType.default("rewarded"),
  /** A listed tester of the bot. Default: user `"0"`, whom no receiver rewards. */
  user_tg_id: telegramId.optional(),
});

export const testWebhookResponse = z.object({
  event_id: z.string(),
  /** The endpoint answered 2xx. */
  delivered: z.boolean(),
  /** The status of the endpoint's answer; absent without an answer. */
  status: z.int().optional(),
  /** Why there was no valid answer: `dns`, `refused`, `tls`, `timeout-total`, `redirect` … */
  error_class: z.string().optional(),
  /** The beginning of the answer, or a description of the failure; for people. */
  answer: z.string().optional(),
  total_ms: z.int().nonnegative(),
  /** The state after the test; absent where the address changed during the test. */
  endpoint: endpointState.optional(),
});
export type TestWebhookResponse = z.infer<typeof testWebhookResponse>;

export const redeliverEventResponse = z.object({
  event_id: z.string(),
  /** It is due now. The list of events shows its outcome. */
  delivery: z.literal("waiting"),
});
export type RedeliverEventResponse = z.infer<typeof redeliverEventResponse>;

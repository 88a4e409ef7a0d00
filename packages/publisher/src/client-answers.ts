/** An amount, and the words for its unit by language and plural category. */
interface NamedReward {
  amount: number;
  unit: Record<string, Record<string, string>>;
}

/** What a view and a click are worth, with its names on the wire. Each is absent if the bot's settings do not name it. */
export interface NamedRewards {
  rewarded?: NamedReward | undefined;
  direct_link?: NamedReward | undefined;
}

/** What a code earned, and why it did not: the answer of `GET /client/v1/codes/{code}`, with its names on the wire. */
export interface CodeDescription {
  code: string;
  bot_id: string;
  user_tg_id: string;
  reference?: string | undefined;
  /** The channel or group that a view lets the user into. */
  join?: { title: string } | undefined;
  /** The `startapp` value of the link that opened the mini-app. Whoever made the link chose it: the user may have. */
  start_param?: string | undefined;
  issued_at: string;
  expires_at: string;
  is_expired: boolean;
  earned: { event: "rewarded" | "direct_link"; event_id: string; occurred_at: string }[];
  /** What the code can still earn now; empty once it is used up or expired. Absent from older services. */
  can_earn?: ("rewarded" | "direct_link")[] | undefined;
  /** The bot's setting: a code earns one event, whichever comes first, or one view and one click. */
  pay_per_code?: "once" | "each" | undefined;
  sessions: {
    session_id: string;
    state: "opened" | "playing" | "watched" | "rewarded";
    opened_at: string;
    watched_at: string | null;
    closed_at: string | null;
    accepted_ms: number;
    duration_ms: number;
    /** How many reports were refused, by reason. */
    refusals: Record<string, number>;
    /** Why the view looks suspicious, if it does. */
    suspicions?: string[] | undefined;
    /** Only with state `watched`, after the view was closed: `held` waits for the operator, `refused` earns nothing. */
    review?: "held" | "refused" | undefined;
  }[];
  /** Visits of the direct link, by outcome (`counted`, or the refusal reason). */
  clicks: Record<string, number>;
  /** Ad requests with this code, by outcome: `filled`, or the reason why not. */
  requests?: Record<string, number> | undefined;
}

/** The attempts to send an event: the answer of `GET /client/v1/events/{id}/attempts`, with its names on the wire. */
export interface EventAttempts {
  event_id: string;
  event: "rewarded" | "direct_link" | "interstitial" | "task" | "task_reversed";
  test?: true | undefined;
  delivery: "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";
  /** Why the delivery is in this state, and what to do. */
  explanation: string;
  /** Only while `waiting`. */
  next_attempt_at?: string | undefined;
  /** Oldest first, at most the latest 200. */
  attempts: {
    attempt: number;
    started_at: string;
    /** The webhook address at that time. */
    url: string;
    /** Absent without a valid answer. */
    status?: number | undefined;
    error_class?: string | undefined;
    /** The beginning of the answer, or a description of the failure. */
    answer?: string | undefined;
    /** What to check, unless the answer was 2xx. */
    advice?: string | undefined;
    total_ms?: number | undefined;
    next_at?: string | undefined;
    /** Requested, outside the schedule. */
    redelivery?: true | undefined;
  }[];
}

export interface StatsFigures {
  /** Ad requests that could be granted: `fills` and `no_fills`. */
  requests: number;
  fills: number;
  /** `fills` divided by `requests`; null without requests. */
  fill_rate: number | null;
  /** By reason, like the other records. */
  no_fills: Record<string, number>;
  /** Requests that the bot's own cooldown or cap stopped. */
  limited: Record<string, number>;
  /** Requests refused because of the code. */
  requests_refused: Record<string, number>;
  starts: number;
  first_quartiles: number;
  midpoints: number;
  third_quartiles: number;
  completions: number;
  /** `completions` divided by `starts`. */
  completion_rate: number | null;
  /** Views that were completed and closed, by how they were closed. */
  closes: Record<string, number>;
  /** Views that earned. */
  rewards: number;
  views_held: Record<string, number>;
  views_refused: Record<string, number>;
  /** Visits of direct links that counted. */
  clicks: number;
  clicks_refused: Record<string, number>;
  /** Refunded charges of views (`rewarded`) and clicks (`direct_link`). */
  refunds: Record<string, number>;
  conversions: number;
  /** The publisher's share of what was charged, in millionths of the currency. */
  revenue_micros: number;
  /** Revenue of views per thousand started views. */
  ecpm_micros: number | null;
}

/** What codes of some references earned. */
export interface ReferenceFigures {
  /** Views that earned and were charged. */
  rewards: number;
  /** Visits of direct links that counted and were charged. */
  clicks: number;
  /** How many users earned these. */
  users: number;
  /** How many of these rewards and clicks were refunded, whenever that was. */
  refunds: number;
  /** The publisher's share of what was charged, without the refunded ones, in millionths of the currency. */
  revenue_micros: number;
}

/** The answer of `GET /client/v1/stats?reference_prefix=`, with its names on the wire. */
export interface ReferenceStats {
  /** ISO 4217. */
  currency: string;
  from: string;
  to: string;
  by: "hour" | "day" | "reference";
  reference_prefix: string;
  /** `key`: the day, the beginning of the hour, or the reference, the greatest revenue first; at most 1000. */
  rows: (ReferenceFigures & { key: string })[];
  /** How many further rows there are; `total` counts them. */
  rows_left_out?: number | undefined;
  total: ReferenceFigures;
}

/** The bot's numbers: the answer of `GET /client/v1/stats`, with its names on the wire. */
export interface Stats {
  /** ISO 4217. */
  currency: string;
  from: string;
  to: string;
  by: "hour" | "day" | "campaign" | "creative";
  /** Everything before this moment is counted. Absent until the first count. */
  counted_until?: string | undefined;
  /** `key`: the day, the beginning of the hour, or an id; "" for figures without an id. */
  rows: (StatsFigures & { key: string })[];
  total: StatsFigures;
  /** Current state of the webhooks of events in this period, or only of those since `since`: earlier ones are no longer kept. */
  deliveries: {
    delivered: number;
    under_way: number;
    failed: number;
    success_rate: number | null;
    since?: string | undefined;
  };
}

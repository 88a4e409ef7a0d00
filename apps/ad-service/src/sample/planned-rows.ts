import type { EventType } from "@intermission/ad-core/wire-fields";
export type Id = { bot_id: string; user_id: string; code: string };
export interface Of {
  campaign_id: string;
  creative_id: string | null;
  audience: string;
}
interface PlannedView extends Id, Of {
  view_id: string;
  duration_ms: number;
  opened_at: Date;
  started_at: Date | null;
  state: "opened" | "playing" | "rewarded" | "held";
  accepted_ms: number;
  suspicions: readonly string[];
  closed_at: Date | null;
}
interface PlannedEvent extends Id, Of {
  event_id: string;
  event: EventType;
  price_micros: number | null;
  revenue_micros: number | null;
  body: string;
  occurred_at: Date;
  /** Answers 503 before the one of 200. */
  failures: number;
}

/** The rows of a day, by table. */
export interface PlannedDay {
  codes: (Id & { issued_at: Date })[];
  requests: (Id & { outcome: string; reason: string; occurred_at: Date } & { [Field in keyof Of]: Of[Field] | null })[];
  views: PlannedView[];
  milestones: (Of & { bot_id: string; milestone: string; reason: string; occurred_at: Date })[];
  ctaClicks: (Of & {
    bot_id: string;
    view_id: string;
    click_id: string;
    user_id: string;
    occurred_at: Date;
    opened_at: Date;
  })[];
  events: PlannedEvent[];
  withheld: (Id & { click_id: string; campaign_id: string | null; outcome: string; suspicions: readonly string[] } & {
    audience: string;
    occurred_at: Date;
  })[];
  conversions: (Of & {
    bot_id: string;
    click_id: string;
    event: string;
    value_micros: number | null;
    currency: string;
    occurred_at: Date;
    clicked_at: Date;
  })[];
}

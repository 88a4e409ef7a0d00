import type { EventType } from "@intermission/ad-core/wire-fields";
import type { Platform } from "@intermission/operator-api/campaign-words";
import type { Terms } from "@intermission/operator-api/terms";

/**
 * Ids of 17 digits are larger than any that Telegram assigns (52 bits), so that no real bot and no real user has one of the
 * sample's.
 */
export interface SampleBot {
  readonly botId: string;
  readonly name: string;
  readonly username: string;
  readonly category: string;
  readonly timeZone: string;
  /** Of that zone, roughly: when its users are awake. */
  readonly utcOffsetHours: number;
  /** Begins the ids of its users. */
  readonly userPrefix: string;
  readonly users: number;
  readonly requestsPerDay: number;
  /** The part of its codes that is opened as a direct link. */
  readonly linkShare: number;
  readonly languages: readonly string[];
  readonly countries: readonly string[];
  readonly platforms: readonly Platform[];
}

const PHONES = ["android", "android", "android", "ios", "ios", "desktop"] as const;

export const sampleBots = [
  {
    botId: "99000000000000001",
    name: "Sample: Puzzle Park",
    username: "sample_puzzle_park_bot",
    category: "games",
    timeZone: "Europe/Berlin",
    utcOffsetHours: 1,
    userPrefix: "98100000000000000",
    users: 240,
    requestsPerDay: 170,
    linkShare: 0.22,
    languages: ["de", "de", "en", "tr", "ru"],
    countries: ["DE", "DE", "AT", "CH", "TR"],
    platforms: PHONES,
  },
  {
    botId: "99000000000000002",
    name: "Sample: Daily Quiz",
    username: "sample_daily_quiz_bot",
    category: "education",
    timeZone: "Asia/Kolkata",
    utcOffsetHours: 5.5,
    userPrefix: "98200000000000000",
    users: 180,
    requestsPerDay: 120,
    linkShare: 0.3,
    languages: ["en", "hi", "hi"],
    countries: ["IN", "IN", "IN", "GB"],
    platforms: ["android", "android", "android", "android", "ios"],
  },
  {
    botId: "99000000000000003",
    name: "Sample: Word Garden",
    username: "sample_word_garden_bot",
    category: "games",
    timeZone: "America/Sao_Paulo",
    utcOffsetHours: -3,
    userPrefix: "98300000000000000",
    users: 120,
    requestsPerDay: 70,
    linkShare: 0.18,
    languages: ["pt", "pt", "es", "en"],
    countries: ["BR", "BR", "PT", "AR"],
    platforms: PHONES,
  },
] as const satisfies readonly SampleBot[];

interface SampleAdvertiser {
  readonly advertiserId: string;
  readonly name: string;
  readonly billing: Terms["billing"];
  /** Null: no limit. */
  readonly creditLimitMicros: number | null;
  /** Paid in as the sample begins. */
  readonly topUpMicros?: number;
}

export const sampleAdvertisers = [
  {
    advertiserId: "adv_SampleHarbour",
    name: "Sample: Harbour Coffee",
    billing: "prepaid",
    creditLimitMicros: 0,
    topUpMicros: 120_000_000,
  },
  {
    advertiserId: "adv_SampleNorthwind",
    name: "Sample: Northwind Games",
    billing: "credit",
    creditLimitMicros: 400_000_000,
  },
  { advertiserId: "adv_SampleLantern", name: "Sample: Lantern Books", billing: "credit", creditLimitMicros: null },
] as const satisfies readonly SampleAdvertiser[];

interface SampleCreative {
  readonly creativeId: string;
  readonly name: string;
  readonly advertiserId: string;
  readonly review: "approved" | "waiting";
}

export const sampleCreatives = [
  {
    creativeId: "cre_sample_harbour_spring",
    name: "Sample: spring roast",
    advertiserId: "adv_SampleHarbour",
    review: "approved",
  },
  {
    creativeId: "cre_sample_harbour_iced",
    name: "Sample: iced coffee",
    advertiserId: "adv_SampleHarbour",
    review: "waiting",
  },
  {
    creativeId: "cre_sample_northwind_trailer",
    name: "Sample: game trailer",
    advertiserId: "adv_SampleNorthwind",
    review: "approved",
  },
  {
    creativeId: "cre_sample_lantern_reader",
    name: "Sample: e-book reader",
    advertiserId: "adv_SampleLantern",
    review: "approved",
  },
] as const satisfies readonly SampleCreative[];

export interface SampleCampaign {
  readonly campaignId: string;
  readonly advertiserId: string;
  readonly name: string;
  readonly format: EventType;
  readonly priceMicros: number;
  readonly weight: number;
  /** At least twice what its busiest day can cost. */
  readonly dailyBudgetMicros: number | null;
  readonly totalBudgetMicros: number | null;
  /** Days of the sample (the first is 0) on which it starts, and before which it ends; null: it goes on. */
  readonly startsOn: number;
  readonly endsOn: number | null;
  /** The part of its clicks that converts, and to what. */
  readonly conversion: { readonly share: number; readonly event: string; readonly valueMicros: number | null };
  readonly callToAction: string | null;
  readonly creativeIds: readonly string[];
}

export const sampleCampaigns = [
  {
    campaignId: "cmp_SampleSpringRoast",
    advertiserId: "adv_SampleHarbour",
    name: "Sample: Spring roast",
    format: "rewarded",
    priceMicros: 40_000,
    weight: 3,
    dailyBudgetMicros: 15_000_000,
    totalBudgetMicros: 110_000_000,
    startsOn: 0,
    endsOn: null,
    conversion: { share: 0.08, event: "purchase", valueMicros: 12_900_000 },
    callToAction: "Order a bag",
    creativeIds: ["cre_sample_harbour_spring", "cre_sample_harbour_iced"],
  },
  {
    campaignId: "cmp_SampleCastleRush",
    advertiserId: "adv_SampleNorthwind",
    name: "Sample: Castle Rush launch",
    format: "rewarded",
    priceMicros: 60_000,
    weight: 4,
    dailyBudgetMicros: 20_000_000,
    totalBudgetMicros: null,
    startsOn: 2,
    endsOn: null,
    conversion: { share: 0.15, event: "install", valueMicros: null },
    callToAction: "Play free",
    creativeIds: ["cre_sample_northwind_trailer"],
  },
  {
    campaignId: "cmp_SampleAutumnReads",
    advertiserId: "adv_SampleLantern",
    name: "Sample: Autumn reads",
    format: "rewarded",
    priceMicros: 25_000,
    weight: 2,
    dailyBudgetMicros: null,
    totalBudgetMicros: 60_000_000,
    startsOn: 0,
    endsOn: 11,
    conversion: { share: 0.05, event: "purchase", valueMicros: 7_490_000 },
    callToAction: "Read a chapter",
    creativeIds: ["cre_sample_lantern_reader"],
  },
  {
    campaignId: "cmp_SampleCastleRushLink",
    advertiserId: "adv_SampleNorthwind",
    name: "Sample: Castle Rush link",
    format: "direct_link",
    priceMicros: 90_000,
    weight: 2,
    dailyBudgetMicros: 25_000_000,
    totalBudgetMicros: null,
    startsOn: 0,
    endsOn: null,
    conversion: { share: 0.12, event: "install", valueMicros: null },
    callToAction: null,
    creativeIds: [],
  },
  {
    campaignId: "cmp_SampleGiftCards",
    advertiserId: "adv_SampleLantern",
    name: "Sample: Gift cards",
    format: "direct_link",
    priceMicros: 50_000,
    weight: 1,
    dailyBudgetMicros: 10_000_000,
    totalBudgetMicros: null,
    startsOn: 4,
    endsOn: null,
    conversion: { share: 0.06, event: "purchase", valueMicros: 20_000_000 },
    callToAction: null,
    creativeIds: [],
  },
] as const satisfies readonly SampleCampaign[];

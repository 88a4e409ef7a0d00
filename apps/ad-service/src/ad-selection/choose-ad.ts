import { hash } from "node:crypto";
import {
  type CampaignFormat,
  campaignFormats,
  campaignPriorities,
  isViewFormat,
} from "@intermission/operator-api/campaign-words";
import type { CampaignCreative } from "@intermission/operator-api/campaigns";
import type { NoAdReason } from "@intermission/operator-api/report-figures";
import { adsBehindPlan, type CampaignState, fullLimit, type TrafficCurve } from "./campaign-state.ts";
import { type AdRequest, exclusionReason, isShown, type Moment, outOfTime } from "./eligibility.ts";
import type { LocalTimes } from "./local-time.ts";

interface Entry {
  state: CampaignState;
  weight: number;
}

/** Campaigns of a weighted draw, ordered by their cumulative weights. */
interface DrawList {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** The campaign whose weight interval contains `place`, a number between 0 and `total`. */
  at(place: number): CampaignState | undefined;
}

/** Each campaign is in the list of its narrowest target, or in the list `all`. */
type Pool = ReadonlyMap<string, DrawList>;

interface Tier {
  behindPlan: Pool;
  withoutPlan: Pool;
}

/** The campaigns at one moment, prepared for choosing. */
export interface CampaignIndex {
  readonly curve: TrafficCurve;
  readonly localTimes: LocalTimes;
  readonly states: readonly CampaignState[];
  /** Sponsorship, standard, house. */
  readonly formats: Record<CampaignFormat, readonly Tier[]>;
  readonly hasFormat: Record<CampaignFormat, boolean>;
  /** The longest period of any user cap; undefined if no campaign has a user cap. */
  readonly userCapSeconds: number | undefined;
}

export type Choice =
  /** `creative` is null but for a video. */
  | { outcome: "chosen"; state: CampaignState; creative: CampaignCreative | null }
  | { outcome: "no-ad"; reason: NoAdReason };

/** Shorter lists are checked completely instead of being drawn from. */
const WORTH_DRAWING = 32;
/** Random draws before all campaigns are checked: if one in ten fits, all draws fail once in 200 requests. */
const DRAWS = 50;

/**
 * Chooses an ad: sponsorship before standard before house. Within each priority, campaigns behind their plan of the day go
 * first, each as likely as its weight times the ads it is behind, then those without a plan, by weight. The creative of the
 * chosen campaign is drawn by its weight.
 *
 * Pure: `random` returns numbers in [0, 1). Campaigns are drawn from prepared lists and checked only when drawn, so that ten
 * thousand campaigns cost hardly more than ten; the likelihoods are the same as if all were checked.
 */
export function chooseAd(
  index: CampaignIndex,
  request: AdRequest,
  { now, random }: { now: Date; random: () => number },
): Choice {
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  const tiers = index.formats[request.format];
  for (const { behindPlan, withoutPlan } of tiers) {
    for (const pool of [behindPlan, withoutPlan]) {
      const state = draw(pool, request, moment, random);
      if (state) return { outcome: "chosen", state, creative: drawCreative(state, request, random) };
    }
  }
  return { outcome: "no-ad", reason: index.hasFormat[request.format] ? "none-fits" : "no-campaign" };
}

function draw(pool: Pool, request: AdRequest, moment: Moment, random: () => number): CampaignState | undefined {
  if (pool.size === 0) return undefined;
  const lists = listsFor(pool, request);
  const all = lists.reduce((sum, { total }) => sum + total, 0);
  if (all === 0) return undefined;
  const number = lists.reduce((sum, { entries }) => sum + entries.length, 0);
  for (let attempt = 0; number >= WORTH_DRAWING && attempt < DRAWS; attempt++) {
    let left = random() * all;
    for (const list of lists) {
      if (left < list.total) {
        const state = list.at(left);
        if (state && exclusionReason(state, request, moment) === undefined) return state;
        break;
      }
      left -= list.total;
    }
  }
  const fitting = lists.flatMap(({ entries }) =>
    entries.filter(({ state }) => exclusionReason(state, request, moment) === undefined),
  );
  return drawByWeight(fitting, random)?.state;
}

/** The lists of a pool that can contain campaigns for the request. */
function listsFor(pool: Pool, { bot, user }: AdRequest): DrawList[] {
  const keys = ["all", `bot ${bot.botId}`];
  if (bot.category !== null) keys.push(`category ${bot.category}`);
  if (user.language !== undefined) keys.push(`language ${user.language}`);
  if (user.platform !== undefined) keys.push(`platform ${user.platform}`);
  return keys.flatMap((key) => pool.get(key) ?? []);
}

/** Of a video campaign; null for another one, or where none may be shown. */
export function drawCreative(
  { campaign }: CampaignState,
  { format, without }: AdRequest,
  random: () => number,
): CampaignCreative | null {
  if (!isViewFormat(format)) return null;
  const shown = campaign.creatives.filter((creative) => isShown(creative) && !without?.has(creative.creativeId));
  return drawByWeight(shown, random) ?? null;
}

/**
 * Random numbers for a code, the same each time: the page of the mini-app and the opening of the code choose one ad. Codes are
 * random, so over many codes each ad is as likely as its weight.
 */
export function drawsOf(code: string): () => number {
  let draws = 0;
  return () => hash("sha256", `${code} ${draws++}`, "buffer").readUIntBE(0, 6) / 2 ** 48;
}

/** Draws one item, each as likely as its share of the total weight. */
export function drawByWeight<Item extends { weight: number }>(
  items: readonly Item[],
  random: () => number,
): Item | undefined {
  let left = random() * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const item of items) {
    left -= item.weight;
    if (left < 0) return item;
  }
  return items.at(-1);
}

/**
 * The weight of a campaign in the draw among those of its priority that are behind their plans, or that have none
 * (`behind` is undefined). A campaign that is on its plan keeps a little: it may fall behind before the next index is built,
 * and each draw checks it again.
 */
export function weightOf({ campaign }: CampaignState, behind: number | undefined): number {
  return campaign.weight * (behind === undefined ? 1 : Math.max(behind, 0.5));
}

/** Groups campaigns by what is the same for every request: time, limits, plan and narrowest target. */
export function indexCampaigns(states: readonly CampaignState[], { now, curve, localTimes }: Moment): CampaignIndex {
  const tiersOf = (format: CampaignFormat) =>
    campaignPriorities.map((priority) =>
      tierOf(
        states.filter(({ campaign }) => campaign.priority === priority),
        format,
      ),
    );
  const tierOf = (some: CampaignState[], format: CampaignFormat): Tier => {
    const behindPlan = new Map<string, Entry[]>();
    const withoutPlan = new Map<string, Entry[]>();
    for (const state of some) {
      if (!state.campaign.formats.includes(format) || outOfTime(state.campaign, now) || fullLimit(state, format))
        continue;
      const behind = adsBehindPlan(state, format, { now, curve });
      const pool = behind === undefined ? withoutPlan : behindPlan;
      for (const key of keysOf(state)) push(pool, key, { state, weight: weightOf(state, behind) });
    }
    return { behindPlan: listsOf(behindPlan), withoutPlan: listsOf(withoutPlan) };
  };
  const has = (format: CampaignFormat) => states.some(({ campaign }) => campaign.formats.includes(format));
  return {
    curve,
    localTimes,
    states,
    userCapSeconds: longestUserCap(states),
    formats: ofEachFormat(tiersOf),
    hasFormat: ofEachFormat(has),
  };
}

function ofEachFormat<Of>(of: (format: CampaignFormat) => Of): Record<CampaignFormat, Of> {
  // Of this very list.
  return Object.fromEntries(campaignFormats.map((format) => [format, of(format)])) as Record<CampaignFormat, Of>;
}

/** Of what a viewer has seen, so much counts for any campaign; undefined if none has a user cap. */
export function longestUserCap(states: readonly CampaignState[]): number | undefined {
  const longest = states.reduce((max, { campaign }) => Math.max(max, campaign.userCapSeconds ?? 0), 0);
  return longest > 0 ? longest : undefined;
}

/** A campaign with several values in its narrowest target is listed under each; a request matches at most one of them. */
function keysOf({ campaign: { targeting } }: CampaignState): string[] {
  if (targeting.bots) return targeting.bots.map((botId) => `bot ${botId}`);
  if (targeting.botCategories) return targeting.botCategories.map((category) => `category ${category}`);
  if (targeting.languages) return targeting.languages.map((language) => `language ${language}`);
  if (targeting.platforms) return targeting.platforms.map((platform) => `platform ${platform}`);
  return ["all"];
}

function push(pool: Map<string, Entry[]>, key: string, entry: Entry): void {
  const list = pool.get(key);
  if (list) list.push(entry);
  else pool.set(key, [entry]);
}

function listsOf(pool: Map<string, Entry[]>): Pool {
  return new Map([...pool].map(([key, entries]) => [key, drawList(entries)]));
}

function drawList(entries: Entry[]): DrawList {
  const sums = new Float64Array(entries.length);
  let total = 0;
  for (const [index, { weight }] of entries.entries()) {
    total += weight;
    sums[index] = total;
  }
  return {
    entries,
    total,
    at(place) {
      let low = 0;
      let high = entries.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((sums[middle] ?? 0) > place) high = middle;
        else low = middle + 1;
      }
      return entries[low]?.state;
    },
  };
}

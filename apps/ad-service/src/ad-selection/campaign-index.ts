import type { CampaignFormat, CampaignPriority } from "../campaigns/campaign-settings.ts";
import { adsBehindPlan, type CampaignState, fullLimit, type TrafficCurve } from "./campaign-state.ts";
import { type AdRequest, outOfTime } from "./eligibility.ts";

export interface Entry {
  state: CampaignState;
  weight: number;
}

/** Campaigns of a weighted draw, ordered by their cumulative weights. */
export interface DrawList {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** The campaign whose weight interval contains `place`, a number between 0 and `total`. */
  at(place: number): CampaignState | undefined;
}

/** Each campaign is in the list of its narrowest target, or in the list `all`. */
export type Pool = ReadonlyMap<string, DrawList>;

export interface Tier {
  behindPlan: Pool;
  withoutPlan: Pool;
}

/** The campaigns at one moment, prepared for choosing. */
export interface CampaignIndex {
  readonly curve: TrafficCurve;
  readonly states: readonly CampaignState[];
  /** Sponsorship, standard, house. */
  readonly formats: Record<CampaignFormat, readonly Tier[]>;
  readonly hasFormat: Record<CampaignFormat, boolean>;
  /** The longest period of any user cap; undefined if no campaign has a user cap. */
  readonly userCapSeconds: number | undefined;
}

const priorities: readonly CampaignPriority[] = ["sponsorship", "standard", "house"];

/** Groups campaigns by what is the same for every request: time, limits, plan and narrowest target. */
export function indexCampaigns(
  states: readonly CampaignState[],
  { now, curve }: { now: Date; curve: TrafficCurve },
): CampaignIndex {
  const tiersOf = (format: CampaignFormat) =>
    priorities.map((priority) =>
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
      // A campaign on plan may fall behind before the next index is built, so it stays in the pool; each draw checks it again.
      const weight = state.campaign.weight * (behind === undefined ? 1 : Math.max(behind, 0.5));
      for (const key of keysOf(state)) push(pool, key, { state, weight });
    }
    return { behindPlan: listsOf(behindPlan), withoutPlan: listsOf(withoutPlan) };
  };
  const has = (format: CampaignFormat) => states.some(({ campaign }) => campaign.formats.includes(format));
  const longest = states.reduce((most, { campaign }) => Math.max(most, campaign.userCapSeconds ?? 0), 0);
  return {
    curve,
    states,
    userCapSeconds: longest > 0 ? longest : undefined,
    formats: { rewarded: tiersOf("rewarded"), direct_link: tiersOf("direct_link") },
    hasFormat: { rewarded: has("rewarded"), direct_link: has("direct_link") },
  };
}

/** The lists of a pool that can contain campaigns for the request. */
export function listsFor(pool: Pool, { bot, user }: AdRequest): DrawList[] {
  const keys = ["all", `bot ${bot.botId}`];
  if (bot.category !== null) keys.push(`category ${bot.category}`);
  if (user.language !== undefined) keys.push(`language ${user.language}`);
  if (user.platform !== undefined) keys.push(`platform ${user.platform}`);
  return keys.flatMap((key) => pool.get(key) ?? []);
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

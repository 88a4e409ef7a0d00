import { hash } from "node:crypto";
import type { CampaignCreative } from "../campaigns/campaigns.ts";
import { type CampaignIndex, listsFor, type Pool } from "./campaign-index.ts";
import type { CampaignState } from "./campaign-state.ts";
import { type AdRequest, exclusionReason, type Moment } from "./eligibility.ts";

export type Choice =
  /** `creative` is null for a direct link. */
  | { outcome: "chosen"; state: CampaignState; creative: CampaignCreative | null }
  | { outcome: "no-ad"; reason: NoAdReason };

/** No campaign runs in the format; or those that run do not match the request, are full, or are ahead of their plan. */
export type NoAdReason = "no-campaign" | "none-fits";

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
  const moment = { now, curve: index.curve };
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

function drawCreative(
  { campaign }: CampaignState,
  { format, without }: AdRequest,
  random: () => number,
): CampaignCreative | null {
  if (format === "direct_link") return null;
  const shown = campaign.creatives.filter(({ creativeId, isActive }) => isActive && !without?.has(creativeId));
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

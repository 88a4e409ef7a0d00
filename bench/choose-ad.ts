/**
 * `node bench/choose-ad.ts`: how long one choice of an ad takes in-process, compared with a scan of all campaigns.
 * Campaigns are a mixture: a third without targeting, the others for languages, platforms, bots or bot categories; half with
 * a daily plan, of which half are ahead of it; a tenth capped per user. Prints medians of the rounds.
 */
import { parseArgs } from "node:util";
import { type CampaignState, flatCurve } from "../apps/ad-service/src/ad-selection/campaign-state.ts";
import { chooseAd, drawByWeight, indexCampaigns } from "../apps/ad-service/src/ad-selection/choose-ad.ts";
import { type AdRequest, exclusionReason } from "../apps/ad-service/src/ad-selection/eligibility.ts";
import { openLocalTimes } from "../apps/ad-service/src/ad-selection/local-time.ts";
import { seededRandom, stateOf } from "../apps/ad-service/test/fixtures/selection-fixture.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, choices: { type: "string", default: "20000" } },
});
const rounds = Number(values.rounds);
const choices = Number(values.choices);

const random = seededRandom(1);
const now = new Date("2026-03-03T12:00:00Z");
const moment = { now, curve: flatCurve, localTimes: openLocalTimes() };
const pick = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
};
const languages = ["en", "ru", "uk", "es", "pt", "ar", "fa", "hi", "id", "tr"];
const platforms = ["android", "ios", "desktop", "web"] as const;
const categories = ["games", "news", "finance", "music"];
const bots = Array.from({ length: 200 }, (_, number) => String(7_000_000_000 + number));

function campaign(number: number): CampaignState {
  const targets = [
    {},
    {},
    { languages: [pick(languages), pick(languages)] },
    { platforms: [pick(platforms)] },
    { bots: [pick(bots)] },
    { botCategories: [pick(categories)] },
  ];
  return stateOf(
    `cmp_${number}`,
    {
      targeting: pick(targets),
      weight: 1 + Math.floor(random() * 100),
      priority: pick(["standard", "standard", "house"] as const),
      ...(random() < 0.5 && { dailyViewCap: 1000 }),
      ...(random() < 0.1 && { userCap: 2, userCapSeconds: 86_400 }),
    },
    { views: pick([300, 700]) },
  );
}

/** Ad requests, each of another user with a history of its own. */
function requestsOf(users: number, states: readonly CampaignState[]): (index: number) => AdRequest {
  const made = Array.from({ length: Math.min(choices, users) }, () => ({
    format: "rewarded" as const,
    bot: {
      botId: pick(bots),
      category: pick(categories),
      timeZone: "Europe/Berlin",
      blockedCategories: [],
      blockedAdvertisers: [],
    },
    user: { language: pick(languages), platform: pick(platforms), isPremium: random() < 0.1 },
    seen: new Map(Array.from({ length: 5 }, () => [pick(states).campaign.campaignId, [now]])),
  }));
  return (index) => made[index % made.length] ?? pick(made);
}

/** The algorithm that the index replaces: a check of every campaign for each request. */
function scan(states: readonly CampaignState[], request: AdRequest): CampaignState | undefined {
  const fitting = states.filter((state) => exclusionReason(state, request, moment) === undefined);
  return drawByWeight(
    fitting.map((state) => ({ state, weight: state.campaign.weight })),
    random,
  )?.state;
}

function measure(times: number, choose: (index: number) => unknown): { p50: number; p99: number } {
  const microseconds = new Float64Array(times);
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now();
    choose(index);
    microseconds[index] = (performance.now() - startedAt) * 1000;
  }
  microseconds.sort();
  return { p50: microseconds[times >> 1] ?? 0, p99: microseconds[Math.floor(times * 0.99)] ?? 0 };
}

function medianOf(results: { p50: number; p99: number }[]): { p50: number; p99: number } {
  const middle = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
  return { p50: middle(results.map(({ p50 }) => p50)), p99: middle(results.map(({ p99 }) => p99)) };
}

function line(campaigns: number, users: number, how: string, { p50, p99 }: { p50: number; p99: number }): string {
  const cells = [campaigns, users, how, p50.toFixed(1), p99.toFixed(1)].map((cell) => String(cell).padStart(11));
  return `| ${cells.join(" | ")} |`;
}

console.log(`${rounds} rounds of ${choices} choices; microseconds of one choice, medians of the rounds.\n`);
console.log("|   campaigns |       users |             |      p50 µs |      p99 µs |");
console.log("|------------:|------------:|------------:|------------:|------------:|");
for (const [campaigns, users] of [
  [10, 1000],
  [1000, 1000],
  [10_000, 1000],
  [10_000, 20_000],
] as const) {
  const states = Array.from({ length: campaigns }, (_, number) => campaign(number));
  const requestOf = requestsOf(users, states);
  const builtAt = performance.now();
  const index = indexCampaigns(states, moment);
  const buildMs = performance.now() - builtAt;
  const repeated = (choose: (request: AdRequest) => unknown, times: number) =>
    medianOf(Array.from({ length: rounds }, () => measure(times, (number) => choose(requestOf(number)))));
  const ours = repeated((request) => chooseAd(index, request, { now, random }), choices);
  const floor = repeated((request) => scan(states, request), Math.min(choices, 2_000_000 / campaigns));
  console.log(line(campaigns, users, "index", ours));
  console.log(line(campaigns, users, "linear scan", floor));
  // The worst case: no campaign fits, so all are checked.
  const nobody = { ...requestOf(0).bot, blockedAdvertisers: ["Acme"] };
  const none = repeated((request) => chooseAd(index, { ...request, bot: nobody }, { now, random }), 500);
  console.log(line(campaigns, users, "nothing fits", none));
  console.log(`  the index was made in ${buildMs.toFixed(1)} ms`);
}

/**
 * Two ad services and a companion API on one PostgreSQL, in processes of their own: requests of which only so many may earn
 * arrive at both nodes in the same moment. Prints for each race how much was earned and how much may be; fails if more was
 * earned (doubled) or less (lost), or if the ledger differs from the events.
 *
 *   node e2e/kill/two-node-races.ts [--rounds 20]
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { initDataOf, playedRanges, ScriptedViewer } from "../scripted-viewer.ts";
import { companionApi } from "./companion-api.ts";
import { addressOf, newCode } from "./earn-events.ts";
import { readRecords } from "./read-records.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withRetries } from "./with-retries.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "20" } } });
const rounds = Number(values.rounds);

interface Race {
  readonly name: string;
  /** Options of `ads bots update`. */
  readonly bot: { readonly cooldown: number; readonly dailyCap: number };
  readonly run: (stand: Stand, round: number) => Promise<Round>;
}

/** What a round earned together: by its users, or from its campaign; and how often that must be. */
type Round = { readonly allowed: number } & ({ readonly users: readonly string[] } | { readonly campaignId: string });

/** What the races run on. */
interface Stand {
  readonly nodes: Nodes;
  /** The addresses of the two nodes. */
  readonly urls: readonly string[];
  readonly codesOf: (userId: string, count: number) => Promise<string[]>;
}

let latestUser = 500_000;
const newUser = () => String(++latestUser);
let latestAddress = 0;

const free = { cooldown: 0, dailyCap: 10_000 };
/** Requests of one race: half of them to each node. */
const AT_ONCE = 8;

const races: readonly Race[] = [
  {
    name: "one code, clicks",
    bot: free,
    async run(stand) {
      const userId = newUser();
      const [code = ""] = await stand.codesOf(userId, 1);
      const statuses = await Promise.all(eachNode(stand, AT_ONCE, (url) => click(url, code)));
      if (statuses.some((status) => status !== 302)) throw new Error(`a visitor was stranded: ${statuses}`);
      return { users: [userId], allowed: 1 };
    },
  },
  {
    name: "one viewer, clicks, cooldown",
    bot: { cooldown: 3600, dailyCap: 10_000 },
    run: (stand) => clicksOfOneViewer(stand, 1),
  },
  {
    name: "one viewer, clicks, daily cap of 3",
    bot: { cooldown: 0, dailyCap: 3 },
    run: (stand) => clicksOfOneViewer(stand, 3),
  },
  {
    name: "one address, clicks of many viewers",
    bot: free,
    async run(stand) {
      const address = addressOf(latestAddress++);
      const users = Array.from({ length: AT_ONCE }, newUser);
      const codes = await Promise.all(users.map(async (user) => (await stand.codesOf(user, 1))[0] ?? ""));
      const statuses = await Promise.all(
        eachNode(stand, AT_ONCE, (url, index) => click(url, codes[index] ?? "", address)),
      );
      if (statuses.some((status) => status !== 302 && status !== 200)) throw new Error(`answers: ${statuses}`);
      return { users, allowed: 1 };
    },
  },
  {
    name: "one code, views",
    bot: free,
    async run(stand) {
      const userId = newUser();
      const [code = ""] = await stand.codesOf(userId, 1);
      await Promise.all(eachNode(stand, 2, (url) => watch(stand, url, userId, code)));
      return { users: [userId], allowed: 1 };
    },
  },
  {
    name: "one viewer, views at the same time, cooldown",
    bot: { cooldown: 3600, dailyCap: 10_000 },
    run: (stand) => viewsOfOneViewer(stand),
  },
  {
    name: "one viewer, views at the same time, daily cap of 1",
    bot: { cooldown: 0, dailyCap: 1 },
    run: (stand) => viewsOfOneViewer(stand),
  },
  {
    name: "one viewer, a view beside clicks, daily cap of 1",
    bot: { cooldown: 0, dailyCap: 1 },
    async run(stand, round) {
      const userId = newUser();
      const [code = "", ...others] = await stand.codesOf(userId, 4);
      const clicks = async () => {
        // In each round at another moment: before the start, while it plays, at its close.
        await wait((round % 5) * 500);
        await Promise.all(eachNode(stand, others.length, (url, index) => click(url, others[index] ?? "")));
      };
      await Promise.all([watch(stand, stand.urls[round % 2] ?? "", userId, code), clicks()]);
      return { users: [userId], allowed: 1 };
    },
  },
  {
    name: "a campaign's last ten clicks",
    bot: free,
    async run(stand, round) {
      const name = `Last clicks ${round}`;
      const campaignId = await addCampaign(stand, name, [
        "--format",
        "direct_link",
        "--click-price",
        "0.01",
        "--total-click-cap",
        "10",
      ]);
      const users = Array.from({ length: 48 }, newUser);
      const codes = await Promise.all(users.map(async (user) => (await stand.codesOf(user, 1))[0] ?? ""));
      await Promise.all(eachNode(stand, users.length, (url, index) => click(url, codes[index] ?? "")));
      return { campaignId, allowed: 10 };
    },
  },
  {
    name: "a campaign's last five views",
    bot: free,
    async run(stand, round) {
      const name = `Last views ${round}`;
      const [creative]: { creativeId: string }[] = JSON.parse(await stand.nodes.ads(["creatives", "list", "--json"]));
      const video = ["--creative", creative?.creativeId ?? ""];
      const campaignId = await addCampaign(stand, name, [
        "--format",
        "rewarded",
        "--view-price",
        "0.01",
        "--total-view-cap",
        "5",
        ...video,
      ]);
      const users = Array.from({ length: 16 }, newUser);
      const codes = await Promise.all(users.map(async (user) => (await stand.codesOf(user, 1))[0] ?? ""));
      await Promise.all(
        eachNode(stand, users.length, (url, index) => watch(stand, url, users[index] ?? "", codes[index] ?? "")),
      );
      return { campaignId, allowed: 5 };
    },
  },
];

async function clicksOfOneViewer(stand: Stand, allowed: number): Promise<Round> {
  const userId = newUser();
  const codes = await stand.codesOf(userId, AT_ONCE);
  await Promise.all(eachNode(stand, AT_ONCE, (url, index) => click(url, codes[index] ?? "")));
  return { users: [userId], allowed };
}

/** Two videos that play at the same time: the viewer's clock counts for one of them. */
async function viewsOfOneViewer(stand: Stand): Promise<Round> {
  const userId = newUser();
  const codes = await stand.codesOf(userId, 2);
  await Promise.all(eachNode(stand, 2, (url, index) => watch(stand, url, userId, codes[index] ?? "")));
  return { users: [userId], allowed: 1 };
}

function eachNode<Answer>(
  { urls }: Stand,
  count: number,
  send: (url: string, index: number) => Promise<Answer>,
): Promise<Answer>[] {
  return Array.from({ length: count }, (_, index) => send(urls[index % urls.length] ?? "", index));
}

/** Follows a link once, and returns the status. Without an address it comes from one of its own. */
async function click(url: string, code: string, address = addressOf(latestAddress++)): Promise<number> {
  const headers = {
    "user-agent":
      "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
    accept: "text/html",
    "accept-language": "en",
    "x-forwarded-for": address,
  };
  const { status } = await whenAvailable(async () => {
    const signal = AbortSignal.timeout(20_000);
    const response = await fetch(`${url}/${code}`, { redirect: "manual", headers, signal });
    await response.arrayBuffer();
    return response;
  });
  return status;
}

/** How often each status was answered in a race, so that a lost round can be explained. */
const answers = new Map<number, number>();

/**
 * Sends a request, and sends it again while the service is unavailable, as browsers and players do: on a machine with a slow
 * disk the database may not answer for seconds, and the nodes then refuse requests at once.
 */
function whenAvailable<Answer extends { readonly status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  return withRetries(
    "a request",
    async () => {
      const answer = await send();
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
      return answer.status === 503 ? undefined : answer;
    },
    { withinMs: 60_000 },
  );
}

/** Opens, plays in real time and closes, as a player does. Whatever is refused on the way ends it. */
async function watch(stand: Stand, url: string, userId: string, code: string): Promise<void> {
  const { secrets } = stand.nodes;
  const viewer = new ScriptedViewer(url);
  const { status, body } = await whenAvailable(() => viewer.open(secrets.botId, initDataOf(userId, secrets), code));
  if (status !== 200 || body.outcome !== "session") return;
  const { session_id: id, token, ad } = body;
  const started = await whenAvailable(() => viewer.report(id, { token, reports: [], started: true }));
  if (started.status !== 200) return;
  await wait(ad.duration_ms);
  const reports = playedRanges(ad.duration_ms, 0, body.first_sequence);
  await whenAvailable(() => viewer.report(id, { token, reports, closed: "tap" }));
}

async function addCampaign({ nodes }: Stand, name: string, settings: readonly string[]): Promise<string> {
  const sold = [
    "--billing",
    "credit",
    "--priority",
    "sponsorship",
    "--pacing",
    "asap",
    "--landing-url",
    "https://shop.test/",
  ];
  const target = ["--bots", nodes.secrets.botId, "--json"];
  const added: { campaignId: string } = JSON.parse(
    await nodes.ads(["campaigns", "add", "--name", name, "--advertiser", "Races", ...sold, ...settings, ...target]),
  );
  // Nodes read campaigns each two seconds.
  await wait(2500);
  return added.campaignId;
}

/** How often each round earned, as the records of the ad service have it. */
async function countEarned({ nodes }: Stand, rounds: readonly Round[]): Promise<number[]> {
  const { events } = await readRecords(nodes);
  const ofUser = Map.groupBy(events, ({ user_tg_id: userId }) => userId);
  const campaigns: { campaignId: string; delivered: { views: number; clicks: number } }[] = JSON.parse(
    await nodes.ads(["campaigns", "list", "--json"]),
  );
  return rounds.map((round) => {
    if ("users" in round) return round.users.reduce((sum, user) => sum + (ofUser.get(user)?.length ?? 0), 0);
    const delivered = campaigns.find(({ campaignId }) => campaignId === round.campaignId)?.delivered;
    return delivered === undefined ? 0 : delivered.views + delivered.clicks;
  });
}

/** A close may wait for the clock, or for the sweep on a busy machine: rounds are judged once each has earned its part. */
const SETTLED_WITHIN_MS = 60_000;

async function judgeRounds(
  stand: Stand,
  rounds: readonly Round[],
): Promise<{ earned: number; doubled: number; lost: number }> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const counts = await countEarned(stand, rounds);
    const lost = rounds.filter(({ allowed }, index) => (counts[index] ?? 0) < allowed).length;
    if (lost > 0 && Date.now() < until) {
      await wait(1000);
      continue;
    }
    const doubled = rounds.filter(({ allowed }, index) => (counts[index] ?? 0) > allowed).length;
    return { earned: counts.reduce((sum, one) => sum + one, 0), doubled, lost };
  }
}

/** The events that the ledger lacks, and its entries that repeat an event. */
async function compareLedger(nodes: Nodes): Promise<{ missing: number; repeated: number }> {
  const { events, entries } = await readRecords(nodes);
  const ids = entries.flatMap(({ eventId }) => eventId ?? []);
  const distinct = new Set(ids);
  return {
    missing: events.filter(({ event_id: id }) => !distinct.has(id)).length,
    repeated: ids.length - distinct.size,
  };
}

await withStore("postgres", async ({ dataDirectory, databaseUrl }) => {
  const nodes = await startNodes({ dataDirectory, databaseUrl, adServices: 2, apis: 1 });
  try {
    const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
    const codesOf = (userId: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => newCode(api, userId, `${userId}-${index}`)));
    const urls = nodes.all.filter(({ role }) => role === "ad-service").map(({ url }) => url);
    const stand: Stand = { nodes, urls, codesOf };
    const all: Round[] = [];
    let faults = 0;
    for (const { name, bot, run } of races) {
      const settings = ["--cooldown", String(bot.cooldown), "--daily-cap", String(bot.dailyCap)];
      await nodes.ads(["bots", "update", nodes.secrets.botId, ...settings]);
      // Nodes keep a bot's settings for a second.
      await wait(1500);
      const ran = await Promise.all(Array.from({ length: rounds }, (_, round) => run(stand, round)));
      const { earned, doubled, lost } = await judgeRounds(stand, ran);
      console.log(`${name}: ${ran.length} rounds, ${earned} earned, ${doubled} doubled, ${lost} lost`);
      if (doubled + lost > 0) console.log("  answers:", Object.fromEntries(answers));
      answers.clear();
      faults += doubled + lost;
      all.push(...ran);
    }
    const { doubled } = await judgeRounds(stand, all);
    faults += doubled;
    const { repeated } = await withRetries(
      "the ledger",
      async () => {
        const ledger = await compareLedger(nodes);
        return ledger.missing === 0 ? ledger : undefined;
      },
      { withinMs: 60_000 },
    );
    console.log(`at the end ${doubled} doubled; the ledger has each event, and repeats ${repeated}`);
    return faults + repeated === 0;
  } finally {
    await nodes.stop();
  }
});

/**
 * `node bench/lists.ts`: what the lists of the console take of 10,000 campaigns of 500 advertisers, as many videos, 1,000 bots and
 * 100,000 codes of one of them, on a temporary PostgreSQL. Prints, for each step of a reader, the answers of the operator's API
 * (requests, bytes as they are sent), the processor time of the browser's main thread and of the server, medians of the rounds.
 *
 *   node bench/lists.ts [--campaigns 10000] [--codes 100000] [--rounds 5]
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CDPSession, chromium, type Page } from "@playwright/test";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { buildPages } from "../scripts/build-miniapp.ts";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { findBrowser } from "../scripts/find-browser.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { freePort, root } from "../scripts/processes.ts";
import { medianOf } from "./load.ts";
import { processorMilliseconds } from "./processor-time.ts";

const { values } = parseArgs({
  options: {
    campaigns: { type: "string", default: "10000" },
    codes: { type: "string", default: "100000" },
    rounds: { type: "string", default: "5" },
  },
});
const [campaigns, codes, rounds] = [numberOf("campaigns"), numberOf("codes"), numberOf("rounds")];

function numberOf(option: keyof typeof values): number {
  if (/^[1-9]\d{0,6}$/.test(values[option])) return Number(values[option]);
  console.error(`--${option} ${values[option]} is not a whole number from 1 to 9999999, such as: --${option} 5`);
  process.exit(2);
}

/** Fills the tables of a server that runs on them. */
const filling = [
  `insert into advertisers (advertiser_id, name, name_key)
   select 'adv_bench' || n, 'Advertiser ' || n, 'advertiser ' || n from generate_series(1, 500) as n`,
  `insert into bots (bot_id, code_prefix, name)
   select (8000000000 + n)::text, translate(lpad(n::text, 4, '0'), '0123456789', 'ABCDEFGHJK'), 'Bot ' || n
   from generate_series(1, 1000) as n`,
  `insert into creatives (creative_id, name, kind, url, advertiser_id, created_at)
   select 'cre_bench' || n, 'Video ' || n, 'vast', 'https://tags.example/' || n, 'adv_bench' || n % 500 + 1,
     now() - n * interval '1 minute' from generate_series(1, ${campaigns}) as n`,
  `insert into campaigns (campaign_id, name, advertiser_id, formats, created_at, starts_at, ends_at, view_price_micros,
     daily_budget_micros, total_budget_micros)
   select 'cmp_bench' || n, (array['Spring sale', 'Summer games', 'Autumn news', 'Winter market'])[n % 4 + 1] || ' ' || n,
     'adv_bench' || n % 500 + 1, '{rewarded}', now() - n * interval '1 minute', now() - interval '20 days',
     now() + n % 40 * interval '1 day', 2000, 5000000 + n, 100000000 + n from generate_series(1, ${campaigns}) as n`,
  `insert into campaign_creatives (campaign_id, creative_id)
   select 'cmp_bench' || n, 'cre_bench' || n from generate_series(1, ${campaigns}) as n`,
  `insert into campaign_days (campaign_id, day, views, spent_micros)
   select 'cmp_bench' || n, current_date - day, 1000, 2000000 + n * 10
   from generate_series(1, ${campaigns}) as n, generate_series(0, 6) as day`,
  `insert into codes (bot_id, code, user_id, issued_at, expires_at)
   select '8000000001', code_week_at(now()) || 'AAABz' || translate(lpad(n::text, 11, '0'), '01', 'AB'),
     (100000000 + n)::text, now(), now() + interval '1 hour' from generate_series(1, ${codes}) as n`,
  "analyze",
];

async function fill(databaseUrl: string): Promise<void> {
  const migrations = (await import("../apps/ad-service/src/migrations.ts")).migrations;
  const options = { databaseUrl, dataDirectory: "", schema: "ad_service", migrations, poolSize: 1 };
  const database = await openDatabase({ ...options, limits: { statementMs: 120_000 } });
  for (const text of filling) await database.run({ name: "", text }, []);
  await database.close();
}

interface Cost {
  readonly requests: number;
  readonly kilobytes: number;
  readonly browserMs: number;
  readonly serverMs: number;
}

/** What one step takes, until the network is idle. */
async function measure(
  { page, cdp, server }: { page: Page; cdp: CDPSession; server: () => number },
  step: () => Promise<void>,
): Promise<Cost> {
  let [requests, bytes] = [0, 0];
  const ofApi = new Set<string>();
  const count = ({ requestId, response }: { requestId: string; response: { url: string } }) => {
    if (!response.url.includes("/operator/v1/")) return;
    ofApi.add(requestId);
    requests += 1;
  };
  const add = ({ requestId, encodedDataLength }: { requestId: string; encodedDataLength: number }) => {
    if (ofApi.has(requestId)) bytes += encodedDataLength;
  };
  cdp.on("Network.responseReceived", count);
  cdp.on("Network.loadingFinished", add);
  const [taskBefore, serverBefore] = [await taskMs(cdp), server()];
  await step();
  await page.waitForLoadState("networkidle");
  const cost = { browserMs: (await taskMs(cdp)) - taskBefore, serverMs: server() - serverBefore };
  cdp.off("Network.responseReceived", count);
  cdp.off("Network.loadingFinished", add);
  return { requests, kilobytes: bytes / 1000, ...cost };
}

/** Processor time of the page's main thread so far. */
async function taskMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}

type Step = readonly [name: string, prepare: (page: Page) => Promise<void>, act: (page: Page) => Promise<void>];

const rowsOf = (page: Page) => page.getByRole("table").first().locator("tbody tr");
const openCampaigns = async (page: Page) => {
  await page.goto("campaigns");
  await rowsOf(page).first().waitFor();
  await page.waitForLoadState("networkidle");
};
const openFinder = async (page: Page) => {
  await openCampaigns(page);
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
  await page.waitForLoadState("networkidle");
};

/** The steps of a reader. Each waits until what it leads to is shown. */
const steps: readonly Step[] = [
  [
    "the overview",
    (page) => page.goto("about:blank").then(() => {}),
    (page) => page.goto("").then(() => page.locator("#content h1").waitFor()),
  ],
  ["the list of campaigns", (page) => page.goto("about:blank").then(() => {}), openCampaigns],
  [
    "one key in its filter",
    openCampaigns,
    async (page) => {
      const count = page.locator(".list-head").getByRole("status");
      const before = await count.textContent();
      await page.getByRole("searchbox").first().press("7");
      await page.waitForFunction(
        (text) => document.querySelector(".list-head [role=status]")?.textContent !== text,
        before,
      );
    },
  ],
  [
    "its order by what is spent",
    openCampaigns,
    async (page) => {
      const answered = page.waitForResponse(/sort=-spent/);
      await page.getByRole("columnheader", { name: "Spent" }).getByRole("link").click();
      await answered;
    },
  ],
  [
    "its next page",
    openCampaigns,
    async (page) => {
      const shown = await rowsOf(page).count();
      await page.getByRole("button", { name: "Show more" }).click();
      await rowsOf(page).nth(shown).waitFor();
    },
  ],
  [
    "the finder opens",
    openCampaigns,
    async (page) => {
      await page.keyboard.press("ControlOrMeta+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
    },
  ],
  [
    "one key in the finder",
    openFinder,
    async (page) => {
      const answered = page.waitForResponse(/campaigns\?.*find=7/);
      await page.keyboard.press("7");
      await answered;
    },
  ],
  [
    "a code is found",
    openFinder,
    async (page) => {
      const box = page.getByRole("dialog").getByRole("combobox");
      await box.fill("100000777");
      await page
        .getByRole("option", { name: /100000777/ })
        .first()
        .click();
      await page.locator("#content h1").waitFor();
    },
  ],
];

async function measureSteps(stack: DemoStack): Promise<void> {
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  const address = stack.urls.adService.replace("127.0.0.1", "localhost");
  const context = await browser.newContext({ baseURL: `${address}/console/`, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(await stack.signInLink());
  await page.locator("#content h1").waitFor();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const pid = stack.servers.get("ad-service")?.process.pid ?? 0;
  const server = () => processorMilliseconds([pid]);
  console.log("| step | requests | kB sent | browser, ms | server, ms |\n|---|---|---|---|---|");
  for (const [name, prepare, act] of steps) {
    const costs: Cost[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await prepare(page);
      costs.push(await measure({ page, cdp, server }, () => act(page)));
    }
    const median = (figure: keyof Cost, digits = 0) => medianOf(costs.map((cost) => cost[figure])).toFixed(digits);
    console.log(
      `| ${name} | ${median("requests")} | ${median("kilobytes", 1)} | ${median("browserMs")} | ${median("serverMs")} |`,
    );
  }
  console.log(`\nMedians of ${rounds} rounds. Machine: load ${loadavg()[0]?.toFixed(0)}.`);
  await browser.close();
}

const postgres = await findPostgres();
const database = await createServerDatabase(postgres.url);
const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-lists-"));
try {
  if (!existsSync(join(root, "apps/console/dist/index.html"))) await buildPages();
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    databaseUrl: database.url,
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
    env: { "ad-service": { LOG_LEVEL: "warn" }, api: { LOG_LEVEL: "warn" } },
  });
  try {
    await fill(database.url);
    await measureSteps(stack);
  } finally {
    await stack.stop();
  }
} finally {
  rmSync(dataDirectory, { recursive: true, force: true });
  await database.drop();
  await postgres.stop();
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { type SumTable, sumTables } from "../apps/ad-service/src/statistics/sum-tables.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import type { DemoStack } from "./demo-stack.ts";

const DAY_MS = 86_400_000;
const DAYS = 14;
const quality = 0.85;

interface PicturedCampaign {
  name: string;
  advertiser: string;
  /** Of a click, in micros. */
  price: number;
  clicksPerDay: number;
  /** Days from now. */
  startsIn: number;
  endsIn: number;
  budget: number;
}

const campaigns: readonly PicturedCampaign[] = [
  {
    name: "Spring blend",
    advertiser: "Nord Tea",
    price: 80_000,
    clicksPerDay: 420,
    startsIn: -14,
    endsIn: 12,
    budget: 900,
  },
  {
    name: "Gift boxes",
    advertiser: "Nord Tea",
    price: 50_000,
    clicksPerDay: 260,
    startsIn: -10,
    endsIn: 20,
    budget: 400,
  },
  {
    name: "City bikes",
    advertiser: "Bike Works",
    price: 70_000,
    clicksPerDay: 330,
    startsIn: -14,
    endsIn: 16,
    budget: 720,
  },
  {
    name: "Learn Finnish",
    advertiser: "Lingua",
    price: 60_000,
    clicksPerDay: 190,
    startsIn: -12,
    endsIn: 8,
    budget: 140,
  },
  {
    name: "Winter tyres",
    advertiser: "Bike Works",
    price: 90_000,
    clicksPerDay: 0,
    startsIn: 20,
    endsIn: 60,
    budget: 800,
  },
];

/** Takes the two pictures of docs/console.md: a report, and the campaigns, with two weeks of made-up traffic. */
export async function takeConsolePictures(browser: Browser, stack: DemoStack, images: string): Promise<void> {
  await addTraffic(stack);
  const to = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  const from = new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
  const report = `reports?from=${from}&to=${to}&zone=UTC&time=day&by=campaign&figure=clicks`;
  await takePicture(browser, stack, { scheme: "light", path: report, file: join(images, "console-light.webp") });
  await takePicture(browser, stack, { scheme: "dark", path: "campaigns", file: join(images, "console-dark.webp") });
}

/** Sums as the roll-up makes them: the facts behind them would fill the store for two pictures. */
async function addTraffic({ ads, urls, dataDirectory }: DemoStack): Promise<void> {
  const moment = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  for (const { name, advertiser, price, startsIn, endsIn, budget } of campaigns) {
    // biome-ignore format: packed
    await ads([
      "campaigns", "add", "--name", name, "--advertiser", advertiser, "--format", "direct_link", "--yes",
      "--landing-url", `${urls.demoBot}/landing`, "--click-price", String(price / 1e6), "--billing", "credit",
      "--starts-at", moment(startsIn), "--ends-at", moment(endsIn), "--total-budget", String(budget),
    ]);
  }
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  const run = (text: string, values: unknown[]) => database.run({ name: "", text }, values);
  const { table, key } = sumTables["bot-and-campaign"];
  const sums = `insert into ${table} (${key.join(", ")}, clicks, spend_micros, revenue_micros)
    select 'day', day, (select min(bot_id) from bots), campaign_id, '', clicks, clicks * $2::bigint, clicks * $2::bigint * 7 / 10
    from campaigns, generate_series(1, ${DAYS}) as n, lateral (
      select date_bin('1 day', now(), 'epoch') - n * interval '1 day' as day,
        -- A week's wave, and a few percent by the day.
        round($3::integer * (1 + 0.25 * sin(n * 6.283 / 7 + $3::integer) + 0.06 * sin(n * 2.7)))::integer as clicks
    ) as days
    where name = $1 and day >= starts_at - interval '1 day' and clicks > 0`;
  for (const { name, price, clicksPerDay } of campaigns) await run(sums, [name, price, clicksPerDay]);
  for (const level of ["bot", "campaign"] as const) await run(sumsOf(sumTables[level]), []);
  await run(
    `insert into campaign_days (campaign_id, day, clicks, spent_micros)
     select campaign_id, starts_at::date, clicks, spend_micros from ${table} where span = 'day'
     on conflict do nothing`,
    [],
  );
  await database.close();
}

function sumsOf({ table, key }: SumTable): string {
  return `insert into ${table} (${key.join(", ")}, clicks, spend_micros, revenue_micros)
    select ${key.join(", ")}, sum(clicks), sum(spend_micros), sum(revenue_micros) from ${sumTables["bot-and-campaign"].table}
    group by ${key.join(", ")} on conflict do nothing`;
}

interface Picture {
  scheme: "light" | "dark";
  path: string;
  file: string;
}

async function takePicture(browser: Browser, stack: DemoStack, { scheme, path, file }: Picture): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    colorScheme: scheme,
    locale: "en-US",
    timezoneId: "UTC",
  });
  await page.goto(await stack.signInLink());
  await page.locator("#content h1").waitFor();
  await page.goto(new URL(`/console/${path}`, page.url()).href);
  await page.getByText("Spring blend").first().waitFor();
  await page.waitForLoadState("networkidle");
  const picture = await page.screenshot({ animations: "disabled" });
  await page.close();
  writeFileSync(file, await asWebp(await browser.newPage(), picture));
}

/** A third of the PNG. */
async function asWebp(page: Page, picture: Buffer): Promise<Buffer> {
  const address = await page.evaluate(
    async ([source, quality]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", quality);
    },
    [`data:image/png;base64,${picture.toString("base64")}`, quality] as const,
  );
  await page.close();
  return Buffer.from(address.replace("data:image/webp;base64,", ""), "base64");
}

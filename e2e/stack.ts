import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, test as base, expect } from "@playwright/test";
import { migrations as adServiceMigrations } from "../apps/ad-service/src/migrations.ts";
import { migrations as apiMigrations } from "../apps/api/src/migrations.ts";
import { copyCluster } from "../packages/testing/src/test-database.ts";
import { startAdsCommands } from "../scripts/ads-commands.ts";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { freePort, root } from "../scripts/processes.ts";
import { buildStateGallery, type StateGallery } from "../scripts/state-gallery.ts";
import { companionApi } from "./kill/companion-api.ts";

type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;
export type Api = ReturnType<typeof companionApi>;

/** What the servers of this worker have written. */
const lines: string[] = [];
const userIds = new Set<string>();

/** Users of this worker; each worker counts from its own base number. */
let users = 0;

/**
 * One complete stack per worker, on free ports and in a temporary folder: built mini-app, real servers, a real 2 s video.
 * `ownerState`: the cookies of the console, signed in as its owner. And a gallery of all screens of the app without a server, for tests of appearance only. Each is started by the first test
 * that uses it. Specs that need neither import this `test`, too: Playwright starts a new worker for other worker fixtures.
 */
export const test = base.extend<
  { userId: string; api: Api },
  {
    stack: DemoStack;
    ownerState: StorageState;
    gallery: StateGallery;
    adVideo: string;
    adServiceEnv: NodeJS.ProcessEnv;
    hasTasks: boolean;
  }
>({
  adVideo: [join(root, "e2e/fixtures/clip-2s.mp4"), { option: true, scope: "worker" }],
  adServiceEnv: [{}, { option: true, scope: "worker" }],
  hasTasks: [false, { option: true, scope: "worker" }],
  stack: [
    async ({ adVideo, adServiceEnv, hasTasks }, use) => {
      const dataDirectory = await newDataDirectory();
      const commands = startAdsCommands();
      try {
        const stack = await startDemoStack({
          runAds: commands.run,
          dataDirectory,
          ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
          video: adVideo,
          hasChat: true,
          hasTasks,
          cooldownSeconds: 0,
          dailyCap: 100,
          env: {
            "ad-service": { ...debug, TRUST_PROXY: "127.0.0.1", VAST_ALLOWED_NETWORKS: "127.0.0.1", ...adServiceEnv },
            api: debug,
            "demo-bot": debug,
          },
          onLine: (_server, line) => lines.push(line),
        });
        try {
          await use(stack);
          await expectStillPaidSo();
          expectNoUserIds(stack);
        } finally {
          await stack.stop();
        }
      } finally {
        await commands.stop();
        rmSync(dataDirectory, { recursive: true, force: true });
      }
    },
    { scope: "worker", timeout: 180_000 },
  ],
  ownerState: [
    async ({ stack, browser }, use) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(await stack.signInLink());
      await page.locator("#content h1").waitFor();
      const state = await context.storageState();
      await context.close();
      await use(state);
    },
    { scope: "worker", timeout: 60_000 },
  ],
  gallery: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const gallery = await buildStateGallery();
      await use(gallery);
      gallery.remove();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  userId: async ({}, use, testInfo) => {
    const userId = String(1_000_000 + testInfo.workerIndex * 100_000 + ++users);
    userIds.add(userId);
    await use(userId);
  },
  api: async ({ stack }, use) => {
    await use(companionApi(stack.urls.api, stack.secrets.backendApiKey));
  },
});

export { expect };

const debug = { LOG_LEVEL: "debug" };

/** The lines of the servers about a user, by the hash that `log-id` prints. */
export function linesAbout(hash: string): { readonly name: string; readonly level: number; readonly msg: string }[] {
  return lines.filter((line) => line.includes(`"${hash}"`)).map((line) => JSON.parse(line));
}

/** Runs before a stack stops: no server, and no PostgreSQL below it, has written the id of a user of these tests. */
export function expectNoUserIds({ dataDirectory }: DemoStack): void {
  const isAboutUser = (line: string) => line.match(/(?<!\w)\d{7}(?!\w)/g)?.some((number) => userIds.has(number));
  const ofPostgres = readFileSync(join(dataDirectory, "postgres.log"), "utf8").split("\n");
  expect([...lines, ...ofPostgres].filter(isAboutUser)).toEqual([]);
}

/** A temporary folder with already migrated stores of both servers: creating and migrating them takes seconds. */
export async function newDataDirectory(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-e2e-"));
  await copyCluster(
    folder,
    { schema: "ad_service", migrations: adServiceMigrations },
    { schema: "api", migrations: apiMigrations },
  );
  return folder;
}

/** The payments of each user of this worker; they must be unchanged when all its tests are over. */
const paidUsers = new Map<string, { readonly api: Api; readonly flow: string; readonly events: readonly string[] }>();
let lastExpectedAt = 0;

function keepExpecting(api: Api, userId: string, events: readonly string[]): void {
  paidUsers.set(userId, { api, flow: test.info().titlePath.join(" › "), events });
  lastExpectedAt = Date.now();
}

/** Expects exactly one payment, for this event: now, and when the worker's tests are over. */
export async function expectPaidOnce(api: Api, userId: string, event: "rewarded" | "direct_link"): Promise<void> {
  const paid = () => eventsPaid(api, userId);
  await expect.poll(paid, { timeout: 20_000, intervals: [50, 100, 200] }).not.toEqual([]);
  expect(await paid()).toEqual([event]);
  keepExpecting(api, userId, [event]);
}

/** Expects no payment within 2.5 s: for tests that earn afterwards. */
export async function expectNothingPaid(api: Api, userId: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await api.listRewards(userId)).toEqual([]);
}

/** Expects no payment, neither now nor when the worker's tests are over. */
export async function expectNeverPaid(api: Api, userId: string): Promise<void> {
  expect(await api.listRewards(userId)).toEqual([]);
  keepExpecting(api, userId, []);
}

/** Runs before a stack stops: detects late and duplicate payments. */
export async function expectStillPaidSo(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, lastExpectedAt + 2500 - Date.now())));
  const seen: string[] = [];
  const expected: string[] = [];
  for (const [userId, { api, flow, events }] of paidUsers) {
    expected.push(`${flow}: ${events}`);
    seen.push(`${flow}: ${await eventsPaid(api, userId)}`);
  }
  paidUsers.clear();
  expect(seen).toEqual(expected);
}

async function eventsPaid(api: Api, userId: string): Promise<(string | null)[]> {
  return (await api.listRewards(userId)).filter((entry) => entry.amount > 0).map((entry) => entry.event);
}

/** Of a visitor: above some visits a minute from one address, all of this machine's tests together, a tap is asked for. */
export function newAddress(): string {
  return `198.51.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`;
}

export async function newCode(
  api: Api,
  userId: string,
  reference?: string,
): Promise<{ code: string; directLink: string; miniappUrl: string }> {
  const created = await api.createCode(userId, reference);
  if (created.outcome !== "created") throw new Error(`no code: ${created.reason}`);
  return created;
}

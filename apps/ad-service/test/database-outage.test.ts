import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "@intermission/postgres/open-database";
import { exhaustConnections } from "@intermission/testing/exhaust-connections";
import { startTemporaryCluster } from "@intermission/testing/temporary-cluster";
import { expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { makeUpcomingPartitions } from "../src/retention/keep-partitions.ts";
import { newViewId } from "../src/views/view-ids.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { codeIn } from "./fixtures/client-fixture.ts";
import { addBotOf, demoOf, launchData } from "./fixtures/launch-fixture.ts";

const botId = "7000000001";
const operatorToken = "an-operators-token-of-some-length";
const json = { "content-type": "application/json" };

interface Surface {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: object;
  /** Expected while the database is available. */
  status: number;
  type?: RegExp;
}

test("while the database is down every surface answers 503 with Retry-After, and all work again afterwards", async () => {
  await expectOutage(async ({ cluster, surfaces, ask, written }) => {
    await cluster.crash();
    // Twice: the first requests use connections that have just broken, the next ones cannot open any.
    for (let round = 0; round < 2; round++) {
      for (const [name, surface] of Object.entries(surfaces)) expectUnavailable(name, surface, await ask(surface));
    }
    expect(written.length).toBeGreaterThan(0);
    for (const line of written) expect(line).not.toMatch(/"stack"|\\n\s+at /);
    await cluster.restart();
  });
}, 120_000);

/** In fives, more than their limits allow; what is under way counts, so that they do not come all at once. */
const fivesTooMany = { "a code": 3, "the opening of a view": 13, "a direct link": 5 };

test("who repeats a request while the database is down has not used up any limit when it is back", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  await expectOutage(async ({ cluster, surfaces, ask }) => {
    await cluster.crash();
    const repeated = Object.entries(fivesTooMany).map(([name, fives]) => ({ ...surfaceOf(surfaces, name), fives }));
    for (const { name, fives, ...surface } of repeated) {
      for (let five = 0; five < fives; five++) {
        const answers = await Promise.all(Array.from({ length: 5 }, () => ask(surface)));
        for (const answer of answers) expectUnavailable(name, surface, answer);
      }
    }
    await cluster.restart();
    for (const surface of repeated) {
      const statusOf = async () => (await ask(surface)).response.status;
      let status = await statusOf();
      for (const until = Date.now() + 20_000; status === 503 && Date.now() < until; status = await statusOf())
        await wait(50);
      expect({ name: surface.name, status }).toEqual({ name: surface.name, status: surface.status });
    }
  });
});

function surfaceOf(surfaces: Record<string, Surface>, name: string): Surface & { name: string } {
  const surface = surfaces[name];
  if (surface === undefined) throw new Error(`there is no surface ${name}`);
  return { name, ...surface };
}

test("while the database is frozen nobody waits for a 503, and the outage logs a line a second", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  await expectOutage(async ({ cluster, surfaces, ask, written, address }) => {
    const thaw = cluster.freeze();
    try {
      const frozenAt = performance.now();
      const secondsSinceFrozen = () => (performance.now() - frozenAt) / 1000;
      const writtenBefore = written.length;
      await Promise.all(
        Object.entries(surfaces).map(async ([name, surface]) => {
          expectUnavailable(name, surface, await ask(surface));
          // Without the watch a request would wait for the time limit of its statement, 30 s.
          expect(secondsSinceFrozen(), name).toBeLessThan(15);
        }),
      );
      expect((await fetch(`${address}/healthz`)).status).toBe(200);
      const waits: number[] = [];
      for (let round = 0; round < 5; round++) {
        for (const [name, surface] of Object.entries(surfaces)) {
          const startedAt = performance.now();
          expectUnavailable(name, surface, await ask(surface));
          waits.push(performance.now() - startedAt);
        }
        const startedAt = performance.now();
        expect((await fetch(`${address}/readyz`)).status).toBe(503);
        waits.push(performance.now() - startedAt);
        await wait(300);
      }
      // Who waited for the database would wait for two seconds; on a busy machine single answers take their time.
      expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(1000);
      expect(written.length - writtenBefore).toBeLessThanOrEqual(Math.ceil(secondsSinceFrozen()) + 1);
    } finally {
      thaw();
    }
  });
});

test("while others hold every connection of the database every surface answers 503, and all work again afterwards", {
  tags: "long",
  timeout: 120_000,
}, async () => {
  await expectOutage(async ({ cluster, surfaces, ask, written, address }) => {
    const giveBack = await exhaustConnections(cluster.url);
    for (let round = 0; round < 2; round++) {
      for (const [name, surface] of Object.entries(surfaces)) expectUnavailable(name, surface, await ask(surface));
    }
    expect((await fetch(`${address}/readyz`)).status).toBe(503);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    for (const line of written) expect(line).not.toMatch(/"stack"|\\n\s+at /);
    expect(written.join("\n")).toMatch(/too many clients/);
    await giveBack();
  });
});

interface Outage {
  cluster: Awaited<ReturnType<typeof startTemporaryCluster>>;
  surfaces: Record<string, Surface>;
  ask(surface: Surface): Promise<Answer>;
  address: string;
  /** The log. */
  written: string[];
}
interface Answer {
  response: Response;
  text: string;
}

function expectUnavailable(name: string, surface: Surface, { response, text }: Answer): void {
  expect({ name, status: response.status, text }).toMatchObject({ name, status: 503 });
  expect(Number(response.headers.get("retry-after")), name).toBeGreaterThan(0);
  expect(response.headers.get("content-type"), name).toMatch(surface.type ?? /^application\/json/);
  if (!surface.type) expect(JSON.parse(text)).toEqual({ error: { code: "UNAVAILABLE", message: expect.any(String) } });
}

/** All surfaces work, then `outage` begins and ends one, and all work again. */
async function expectOutage(outage: (deps: Outage) => Promise<void>): Promise<void> {
  const cluster = await startTemporaryCluster();
  const dataDirectory = mkdtempSync(join(tmpdir(), "outage-"));
  const written: string[] = [];
  const database = await openDatabase({
    databaseUrl: cluster.url,
    dataDirectory,
    schema: "ad_service",
    migrations,
  });
  const fixture = await openAppFixture(
    database,
    { operatorToken, demo: demoOf(botId), rateLimits: { perTokenPerSecond: 1000, perUserPerMinute: 10 } },
    { log: (line) => written.push(line) },
  );
  await makeUpcomingPartitions(database, fixture.clock.now);
  try {
    const token = await addBotOf(fixture, { botId, now: fixture.clock.now });
    const publisher = { authorization: `Bearer ${token}` };
    const operator = { authorization: `Bearer ${operatorToken}` };
    const request = { bot_id: botId, user_tg_id: "43" };
    const issued = await fetch(`${fixture.address}/client/v1/codes`, {
      method: "POST",
      headers: { ...publisher, ...json },
      body: JSON.stringify(request),
    });
    const { code } = await codeIn(issued);
    const surfaces: Record<string, Surface> = {
      "a code": {
        path: "/client/v1/codes",
        headers: { ...publisher, ...json },
        status: 200,
        body: { bot_id: botId, user_tg_id: "42" },
      },
      "a page of events": { path: "/client/v1/events", headers: publisher, status: 200 },
      availability: { path: "/client/v1/availability?user_tg_id=42", headers: publisher, status: 200 },
      "numbers of a bot": { path: "/client/v1/stats", headers: publisher, status: 200 },
      "an unknown token": {
        path: "/client/v1/events",
        headers: { authorization: `Bearer ad_${"7".repeat(43)}` },
        status: 401,
      },
      "the opening of a view": {
        path: "/player/v1/sessions",
        headers: json,
        status: 200,
        body: { bot_id: botId, init_data: launchData(botId, "42", fixture.clock.now) },
      },
      "a report of a view": {
        path: `/player/v1/sessions/${newViewId({ botId, code: "4Yabcd2efghijkmnpq" })}/reports`,
        headers: json,
        status: 401,
        body: { token: "x".repeat(43), reports: [] },
      },
      "a conversion": { path: "/postback/v1/conversions?click_id=a&key=b", status: 401 },
      "the operator's bots": { path: "/operator/v1/bots", headers: operator, status: 200 },
      "a new bot": {
        path: "/operator/v1/bots",
        headers: { ...operator, ...json },
        status: 201,
        body: { botId: "7777777777", name: "Bot" },
      },
      "a direct link": {
        path: `/${code}`,
        headers: { "user-agent": "Mozilla/5.0 (X11) Firefox/140" },
        status: 200,
        type: /^text\/html/,
      },
      "the mini-app's page": { path: `/app/${botId}`, status: 503, type: /^text\/html/ },
    };
    const ask = async ({ path, headers = {}, body, method = body ? "POST" : "GET" }: Surface) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(fixture.address + path, { method, headers, ...sent, redirect: "manual" });
      return { response, text: await response.text() };
    };
    const statuses = async () => {
      const answers = Object.entries(surfaces).map(async ([name, surface]) => [
        name,
        (await ask(surface)).response.status,
      ]);
      return Object.fromEntries(await Promise.all(answers));
    };
    const expected = Object.fromEntries(Object.entries(surfaces).map(([name, { status }]) => [name, status]));
    expect(await statuses()).toEqual(expected);

    await outage({ cluster, surfaces, ask, address: fixture.address, written });
    surfaces["a new bot"] = { path: "/operator/v1/bots", headers: operator, status: 200 };
    await expect.poll(statuses, { timeout: 20_000 }).toEqual({ ...expected, "a new bot": 200 });
  } finally {
    await fixture.close();
    await database.close();
    await cluster.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

// @module-tag enlarged
// @module-tag long
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorForm, type Exchange, findFaults, type Sample } from "@intermission/testing/malformed/find-faults";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { newViewId } from "../src/views/view-ids.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { codeIn } from "./fixtures/client-fixture.ts";
import { addBotOf, demoOf, launchData } from "./fixtures/launch-fixture.ts";

const botId = "7000000001";
const count = process.env.LONG_TESTS === "true" ? 10_000 : 2000;
const operatorToken = "an-operators-token-of-some-length";
const json = { "content-type": "application/json" };

test(`${count} malformed requests cause no 5xx, no hang and no stack, each error has the form of its surface, and OpenAPI lists each status`, async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const miniappDir = await mkdtemp(join(tmpdir(), "miniapp-"));
  await mkdir(join(miniappDir, "assets"));
  await writeFile(join(miniappDir, "index.html"), "<!doctype html><title>App</title>");
  const written: string[] = [];
  const fixture = await openAppFixture(
    store.database,
    { operatorToken, demo: demoOf(botId), miniappDir },
    { log: (line) => written.push(line) },
  );
  try {
    const token = await addBotOf(fixture, { botId, now: fixture.clock.now });
    const samples = await samplesOf(fixture.address, token, fixture.clock.now);
    const { address } = fixture;
    // Limits per time are reached and left repeatedly.
    const undocumented: string[] = [];
    const listed = await documentedStatuses(address);
    const onExchange = ({ index, request, answer }: Exchange) => {
      const statuses = listed(request);
      const isListed = !statuses || !answer || statuses.has(String(answer.status));
      if (!isListed) undocumented.push(`${answer.status} to ${request.method} ${request.target}`);
      if (index % 20 === 0) fixture.clock.now = new Date(fixture.clock.now.getTime() + 1000);
    };
    const { faults, statuses } = await findFaults({
      address,
      seed: 20,
      count,
      samples,
      formsAt,
      written,
      onExchange,
    });
    expect(faults).toEqual([]);
    expect(undocumented).toEqual([]);
    for (const status of ["200", "400", "401", "404", "405", "413", "415", "431"])
      expect(statuses[status], status).toBeGreaterThan(0);
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  } finally {
    await fixture.close();
    await store.dispose();
    await rm(miniappDir, { recursive: true, force: true });
  }
}, 400_000);

interface ApiDocument {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

/**
 * The statuses that the three OpenAPI documents list for a request's operation; for another method, those of all operations
 * of its path.
 */
async function documentedStatuses(address: string) {
  const patterns: { pattern: RegExp; byMethod: Map<string, Record<string, unknown>> }[] = [];
  for (const prefix of ["/client/v1", "/player/v1", "/operator/v1"]) {
    const { paths } = (await (await fetch(`${address}${prefix}/openapi.json`)).json()) as ApiDocument;
    for (const [path, operations] of Object.entries(paths)) {
      patterns.push({
        pattern: new RegExp(`^${prefix}${path.replaceAll(/\{\w+\}/g, "[^/]+")}(\\?|$)`),
        byMethod: new Map(Object.entries(operations).map(([name, { responses }]) => [name.toUpperCase(), responses])),
      });
    }
  }
  return ({ method, target }: { method: string; target: string }): Set<string> | undefined => {
    // A preflight of a browser is no operation.
    if (method === "OPTIONS" && target.startsWith("/player/")) return undefined;
    const found = patterns.find(({ pattern }) => pattern.test(target));
    const own = found?.byMethod.get(method === "HEAD" ? "GET" : method);
    return (
      found && new Set((own ? [own] : [...found.byMethod.values()]).flatMap((responses) => Object.keys(responses)))
    );
  };
}

/** The root and /app serve pages for people; unreadable requests get the error body there, too. */
function formsAt(target: string): ErrorForm[] {
  return /^\/(client|player|operator|postback|media)\//.test(target) ? ["json"] : ["json", "page"];
}

async function samplesOf(address: string, token: string, at: Date): Promise<Sample[]> {
  const publisher = { authorization: `Bearer ${token}` };
  const operator = { authorization: `Bearer ${operatorToken}` };
  const post = (path: string, headers: Record<string, string>, body: object): Sample => ({
    method: "POST",
    path,
    headers: { ...json, ...headers },
    body,
  });
  const send = ({ path, body, ...init }: Sample) =>
    fetch(address + path, { ...init, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const validRequest = { bot_id: botId, user_tg_id: "42", reference: "an order" };
  const { code } = await codeIn(await send(post("/client/v1/codes", publisher, validRequest)));
  const viewId = newViewId({ botId, code });
  const sessions = `/player/v1/sessions/${viewId}`;
  const report = { sequence: 1, from_ms: 0, to_ms: 1000, visible: true, muted: false, rendered_frames: 25 };
  const campaign = { advertiser: "Shop", name: "Sale", formats: ["direct_link"], landingUrl: "https://shop.example/" };
  const eventId = `evt_${randomUUID()}`;
  const get = (path: string, headers: Record<string, string> = {}): Sample => ({ method: "GET", path, headers });
  return [
    post("/client/v1/codes", publisher, validRequest),
    post("/client/v1/codes", publisher, validRequest),
    get(`/client/v1/codes/${code}`, publisher),
    get("/client/v1/availability?user_tg_id=42", publisher),
    get("/client/v1/events?after=&limit=10", publisher),
    get("/client/v1/stats?from=2026-02-01&to=2026-03-01&by=day", publisher),
    get("/client/v1/openapi.json"),
    post("/client/v1/webhook/test", publisher, { event: "rewarded", user_tg_id: "42" }),
    post(`/client/v1/events/${eventId}/redeliver`, publisher, {}),
    post("/player/v1/sessions", {}, { bot_id: botId, init_data: launchData(botId, "42", at), code, another: false }),
    post(`${sessions}/reports`, {}, { token: "t".repeat(43), reports: [report], started: true, closed: "tap" }),
    post(`${sessions}/status`, {}, { token: "t".repeat(43) }),
    post(`${sessions}/faults`, {}, { token: "t".repeat(43), fault: { kind: "stalled", position_ms: 10, detail: "x" } }),
    { method: "OPTIONS", path: "/player/v1/sessions", headers: { origin: "https://ads.example" } },
    get(`${sessions}/click?key=abc`),
    get("/postback/v1/conversions?click_id=abc&key=def&conversion_id=1&event=buy&value_micros=5"),
    post("/postback/v1/conversions", {}, { click_id: "abc", key: "def", value_micros: 5 }),
    get(`/${code}`, { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "accept-language": "en" }),
    { ...get(`/${code}`, { "user-agent": "Mozilla/5.0 (X11) Firefox/140.0" }), method: "POST", body: "" },
    get(`/app/${botId}?user_tg_id=1`),
    get("/app/assets/main.js"),
    get(`/media/${"a".repeat(64)}.mp4`, { range: "bytes=0-1" }),
    get("/healthz"),
    get("/operator/v1/bots", operator),
    get(`/operator/v1/bots/${botId}`, operator),
    {
      ...post(`/operator/v1/bots/${botId}`, operator, { name: "Bot", timeZone: "UTC", testers: ["1"], dailyCap: 5 }),
      method: "PATCH",
    },
    post("/operator/v1/bots", operator, {
      botId: "7000000002",
      name: "Another",
      category: "games",
      cooldownSeconds: 60,
    }),
    post("/operator/v1/campaigns", operator, campaign),
    get("/operator/v1/campaigns?archived=true", operator),
    get("/operator/v1/creatives", operator),
    post("/operator/v1/creatives/tags?confirmed=true", operator, { url: "https://tags.example.net/vast?id=1" }),
    {
      method: "POST",
      path: "/operator/v1/creatives?name=ad.mp4",
      headers: { ...operator, "content-type": "application/octet-stream" },
      body: "no video",
    },
    get(`/operator/v1/deliveries?botId=${botId}&state=failed&limit=10`, operator),
    get(`/operator/v1/deliveries/${eventId}`, operator),
    get(`/operator/v1/bots/${botId}/events?limit=5`, operator),
    get("/operator/v1/endpoints", operator),
    { ...post(`/operator/v1/endpoints/${botId}`, operator, { maxInFlight: 4 }), method: "PATCH" },
    post(`/operator/v1/bots/${botId}/tokens`, operator, {}),
    get(`/operator/v1/views?botId=${botId}`, operator),
    get("/operator/v1/stats?from=2026-02-01&by=bot", operator),
    get("/operator/v1/advertisers", operator),
  ];
}

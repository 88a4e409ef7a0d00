import { randomBytes } from "node:crypto";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openClicks } from "../src/clicks/follow-direct-link.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { migrations } from "../src/migrations.ts";
import { timelineOfCodes, timelineOfUser } from "../src/users/read-timeline.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { openViewFixture, type ViewFixture } from "./fixtures/view-fixture.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const text = `with advertiser as (insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop') on conflict do nothing)
    insert into campaigns (campaign_id, name, advertiser_id, formats, landing_url, click_price_micros)
    values ('cmp_link', 'Link', 'adv_shop', '{direct_link}', 'https://shop.test/', 1500)`;
  await store.database.run({ name: "", text }, []);
});
afterAll(() => store.dispose());

async function openFixture(settings: Record<string, string | number> = {}): Promise<ViewFixture> {
  const fixture = await openViewFixture(store.database, (app, deps) => {
    viewPlayerRoutes(app, deps);
    directLinkRoutes(app, { clicks: openClicks(deps), encryptionKey: randomBytes(32), now: deps.now });
  });
  onTestFinished(() => fixture.close());
  for (const [column, value] of Object.entries(settings)) {
    const text = `update bots set ${column} = $2 where bot_id = $1`;
    await store.database.run({ name: "", text }, [fixture.botId, value]);
  }
  return fixture;
}

/** What was logged, without the logger's own fields. Fails if a line has a code or a token. */
function linesOf({ lines }: ViewFixture, ...secrets: string[]) {
  for (const secret of secrets) expect(JSON.stringify(lines)).not.toContain(secret);
  return lines.map(({ level: _, time: _time, name: _name, ...facts }) => facts);
}

async function watch(fixture: ViewFixture, userId: string) {
  const code = await fixture.issue(userId);
  const view = await fixture.begin(userId, code);
  await fixture.play(view, 0, 10);
  await fixture.report(view, { closed: "tap" });
  return { code, view };
}

const follow = (fixture: ViewFixture, code: string, address: string, agent = personAgents[0] ?? "") =>
  fetch(`${fixture.address}/${code}`, {
    headers: { "user-agent": agent, "accept-language": "en", "x-forwarded-for": address },
    redirect: "manual",
  });

test("a paid view and a paid click are one line each, with the ids of their events, and neither code nor token; the timelines of codes and users have the same ids", async () => {
  const fixture = await openFixture({ cooldown_seconds: 0 });
  const { botId } = fixture;
  const { code, view } = await watch(fixture, "601");
  fixture.advance(5);
  const linkCode = await fixture.issue("602");
  fixture.advance(5);
  expect((await follow(fixture, linkCode, "198.51.100.1")).status).toBe(302);
  const [paidView, paidClick] = linesOf(fixture, code, linkCode, view.token);
  const { rows } = await eventsOf(botId);
  expect(paidView).toEqual({
    botId,
    userId: "601",
    sessionId: view.session_id,
    campaignId: "cmp_1",
    creativeId: expect.any(String),
    eventId: rows[0]?.event_id,
    suspicions: ["too-even"],
    msg: "a view is paid",
  });
  expect(paidClick).toEqual({
    botId,
    userId: "602",
    campaignId: "cmp_link",
    msg: "a click is paid",
    eventId: rows[1]?.event_id,
    clickId: rows[1]?.event_id.replace("evt_", "clk_"),
  });
  expect(fixture.lines).toHaveLength(2);

  const steps = async (...codes: string[]) =>
    (await timelineOfCodes(store.database, { botId, codes })).map(({ step, id }) => [step, id]);
  const ofView = ["view-opened", "view-started", "view-watched", "view-closed"];
  expect(await steps(code)).toEqual([
    ["code-issued", null],
    ["ad-requested", null],
    ...ofView.map((step) => [step, view.session_id]),
    ["earned", paidView?.eventId],
  ]);
  expect(await steps(linkCode)).toEqual([
    ["code-issued", null],
    ["earned", paidClick?.eventId],
  ]);
  const ofUser = await timelineOfUser(store.database, { botId, userId: "601", maxCodes: 10 });
  expect(ofUser.hasOlder).toBe(false);
  expect(ofUser.entries).toEqual(await timelineOfCodes(store.database, { botId, codes: [code] }));
  expect(ofUser.entries.at(-1)).toMatchObject({
    step: "earned",
    amountMicros: expect.any(Number),
    campaignId: "cmp_1",
    code,
    details: [
      { kind: "event", event: "rewarded" },
      { kind: "webhook", state: expect.stringMatching(/^(held|waiting)$/), endReason: null },
    ],
  });
});

test("a user's timeline has codes that were replaced unused, their refused clicks, and requests without a code", async () => {
  const fixture = await openFixture({ cooldown_seconds: 3600 });
  const { botId } = fixture;
  const unused = await fixture.issue("621");
  fixture.advance(3600);
  const clicked = await fixture.issue("621");
  await follow(fixture, clicked, "198.51.100.4", "curl/8.5.0");
  fixture.advance(3600);
  const current = await fixture.issue("621");
  expect(new Set([unused, clicked, current]).size).toBe(3);
  await watch(fixture, "621");
  await fixture.open("621", undefined);
  const shown = await timelineOfUser(store.database, { botId, userId: "621", maxCodes: 10 });
  expect(shown).toMatchObject({ hasOlder: false, isComplete: true });
  const steps = shown.entries.map(({ step, code, details }) => [step, code, details]);
  expect(steps.filter(([, code]) => code === unused)).toEqual([
    ["code-issued", unused, [{ kind: "valid-until", at: expect.any(Date) }]],
  ]);
  expect(steps.filter(([, code]) => code === clicked)).toContainEqual([
    "click-not-counted",
    clicked,
    [{ kind: "visit-refused", reason: "machine-crawler" }],
  ]);
  expect(steps.filter(([, code]) => code === null)).toEqual([
    ["ad-requested", null, [{ kind: "limited", reason: "cooldown" }]],
  ]);
  const two = await timelineOfUser(store.database, { botId, userId: "621", maxCodes: 2 });
  expect(two.hasOlder).toBe(true);
  expect(two.entries.map(({ code }) => code)).not.toContain(unused);
});

test("a search that takes too long leaves out what no index leads to, and says so", async () => {
  const { issue, botId } = await openFixture();
  const code = await issue("631");
  const slow: typeof store.database.run = (statement, parameters) =>
    statement.name === ""
      ? Promise.reject(Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" }))
      : store.database.run(statement, parameters);
  const shown = await timelineOfUser({ run: slow }, { botId, userId: "631", maxCodes: 10 });
  expect(shown).toMatchObject({ isComplete: false, entries: [{ step: "code-issued", code }] });
});

test("a refusal is a line with its reason, for views and for clicks, and repeats are bounded", async () => {
  const fixture = await openFixture({ cooldown_seconds: 3600, suspicious_clicks: "hold" });
  const { botId } = fixture;
  await watch(fixture, "611");
  for (let repeat = 0; repeat < 5; repeat++) await fixture.open("611", await fixture.issue("611"));
  const limited = { botId, userId: "611", reason: "cooldown" };
  expect(linesOf(fixture).slice(1)).toEqual(
    Array.from({ length: 3 }, () => ({ ...limited, msg: "a viewer may not earn yet" })),
  );
  for (let bot = 1; bot <= 5; bot++) {
    await fixture.post("/sessions", { bot_id: `800000000${bot}`, init_data: "made up" });
  }
  expect(linesOf(fixture).filter(({ reason }) => reason === "BOT_UNKNOWN")).toHaveLength(3);
  const code = await fixture.issue("611");
  fixture.advance(5);
  await follow(fixture, code, "198.51.100.2");
  expect(linesOf(fixture, code).at(-1)).toEqual({ ...limited, msg: "a click is refused" });
  // Within a second of its code.
  const held = await fixture.issue("612");
  await follow(fixture, held, "198.51.100.3");
  expect(linesOf(fixture, held).at(-1)).toMatchObject({
    botId,
    userId: "612",
    clickId: expect.stringMatching(/^clk_/),
    msg: "a click is held for review",
  });
});

async function eventsOf(botId: string) {
  const text = "select event_id from events where bot_id = $1 order by occurred_at, event_id";
  return { rows: await store.database.run<{ event_id: string }>({ name: "", text }, [botId]) };
}

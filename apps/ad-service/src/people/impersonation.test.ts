import { type Role, roles, rolesSeenBy } from "@intermission/operator-api/access";
import { type OperatorRouteName, operatorRoutes, routesOf } from "@intermission/operator-api/operator-routes";
import type { OperatorRoute } from "@intermission/operator-api/route";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { type BrowserFixture, openBrowser, sendAsOperator } from "../../test/fixtures/browser-fixture.ts";
import { migrations } from "../migrations.ts";
import { endExpiredImpersonations } from "./impersonation.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
const browsers = {} as Record<Role, BrowserFixture>;
const ids = {} as Record<Role, string>;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] });
  ({ botId } = await fixture.newBot({ name: "Quiz" }));
  await sendAsOperator(fixture, operatorToken, "addAdvertiser", { payload: { name: "Shop" } });
  for (const [n, role] of roles.entries()) {
    const email = `${role}@ads.test`;
    const own = {
      ...(role === "publisher" && { botIds: [botId] }),
      ...(role === "advertiser" && { advertiser: "Shop" }),
    };
    const invited = await sendAsOperator(fixture, operatorToken, "invitePerson", { payload: { email, role, ...own } });
    ids[role] = (invited.body.person as { personId: string }).personId;
    const link = await sendAsOperator(fixture, operatorToken, "createSignInLink", { payload: { email } });
    browsers[role] = openBrowser(fixture, `203.0.113.${n}`);
    await browsers[role].send("openSignInLink", { token: String(link.body.link).split("#")[1] });
  }
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const start = (role: Role, seen: Role) =>
  browsers[role].send("startImpersonation", undefined, { params: { personId: ids[seen] } });
const end = (role: Role) => browsers[role].send("endImpersonation");
const entries = async () => {
  const { body } = await sendAsOperator(fixture, operatorToken, "listAuditEntries");
  const all = body.entries as {
    operation: string;
    actorName: string;
    objectId: string;
    after: object;
    before: object;
  }[];
  return all.filter(({ operation }) => operation.endsWith("Impersonation"));
};

test("an owner and ad operations see what a person sees, and what that person may not see is refused to them", async () => {
  for (const role of ["owner", "ad-ops"] as const) {
    const started = await start(role, "publisher");
    expect(started).toMatchObject({
      status: 200,
      body: { person: { personId: ids.publisher }, seenBy: { email: `${role}@ads.test` } },
    });
    const seen = browsers[role];
    expect((await seen.send("showSession")).body).toMatchObject({
      person: { role: "publisher" },
      routes: routesOf("publisher"),
      seenBy: { email: `${role}@ads.test` },
    });
    expect((await seen.send("showBot", undefined, { params: { botId } })).status).toBe(200);
    expect((await seen.send("listCampaigns")).status).toBe(403);
    expect((await seen.send("listPeople")).status).toBe(403);
    expect((await end(role)).body).toMatchObject({ person: { personId: ids[role] }, seenBy: null });
    expect((await seen.send("listCampaigns")).status).toBe(200);
  }
});

/** Examples of parameters that do not accept arbitrary text. */
const exampleParams: Readonly<Record<string, string>> = {
  picture: "unit",
  boughtCreativeId: `bcr_${"0".repeat(32)}`,
  chatId: "-1001234567890",
  requestId: "mrq_2K18GkjhZUeUj",
};

test("every route that may change something is refused meanwhile, also those of the own session", async () => {
  await start("owner", "ad-ops");
  const isChanging = (name: OperatorRouteName) =>
    operatorRoutes[name].method !== "GET" &&
    name !== "endImpersonation" &&
    (operatorRoutes[name].access as unknown) !== "anyone";
  const names = (Object.keys(operatorRoutes) as OperatorRouteName[]).filter(isChanging);
  expect(names.length).toBeGreaterThan(60);
  const refusedBySchema: string[] = [];
  for (const name of names) {
    const route: OperatorRoute = operatorRoutes[name];
    const params = Object.fromEntries(
      [...route.path.matchAll(/:(\w+)/g)].map(([, param = ""]) => [param, exampleParams[param] ?? botId]),
    );
    const payload = examplePayload(name);
    const headers = route.body === "file" ? { "content-type": "application/octet-stream" } : {};
    const { status, body } = await browsers.owner.send(name, payload, { params, headers });
    if (status === 400) refusedBySchema.push(name);
    else expect({ name, status, body }).toMatchObject({ status: 403, body: { error: { code: "READ_ONLY" } } });
  }
  // A request that its schema refuses never reaches the guard: few examples are such.
  expect(refusedBySchema.length, refusedBySchema.join(" ")).toBeLessThan(8);
  expect((await browsers.owner.send("showSession")).body).toMatchObject({ person: { role: "ad-ops" } });
  await end("owner");
});

test("nobody sees the console as a person who reaches further, and who may not at all is refused", async () => {
  expect(await start("ad-ops", "owner")).toMatchObject({ status: 403, body: { error: { code: "FORBIDDEN" } } });
  for (const role of ["analyst", "advertiser", "publisher"] as const)
    expect((await start(role, "publisher")).status).toBe(403);
  const allowed = roles.flatMap((role) => rolesSeenBy[role].map((seen) => `${role} as ${seen}`));
  expect(allowed).toEqual([
    ...roles.map((seen) => `owner as ${seen}`),
    ...roles.filter((seen) => seen !== "owner").map((seen) => `ad-ops as ${seen}`),
  ]);
  expect((await browsers.owner.send("endImpersonation")).status).toBe(409);
});

test("start and end are in the audit trail as the one who sees, also when the time is over", async () => {
  const before = (await entries()).length;
  await start("owner", "advertiser");
  await end("owner");
  await start("owner", "advertiser");
  const { now } = fixture.clock;
  fixture.clock.now = new Date(now.getTime() + 30 * 60_000);
  // Also before anything has ended it.
  expect((await browsers.owner.send("showSession")).body).toMatchObject({ person: { role: "owner" }, seenBy: null });
  expect(await endExpiredImpersonations(store.database, fixture.clock.now)).toBe(1);
  expect(await endExpiredImpersonations(store.database, fixture.clock.now)).toBe(0);
  fixture.clock.now = now;
  const made = (await entries()).slice(0, (await entries()).length - before);
  expect(made.map(({ operation }) => operation)).toEqual([
    "endImpersonation",
    "startImpersonation",
    "endImpersonation",
    "startImpersonation",
  ]);
  for (const { actorName, objectId } of made)
    expect({ actorName, objectId }).toEqual({ actorName: "owner@ads.test", objectId: ids.advertiser });
  expect(made[1]?.after).toMatchObject({ seen_by: { "owner@ads.test": expect.any(String) } });
  expect(made[0]?.after).toMatchObject({ seen_by: null });
});

test("a disabled person, or one who reaches further by now, is no longer seen", async () => {
  await start("ad-ops", "analyst");
  const role = (payload: object) =>
    sendAsOperator(fixture, operatorToken, "changeRole", { payload, params: { personId: ids.analyst } });
  await role({ role: "owner" });
  expect((await browsers["ad-ops"].send("showSession")).body).toMatchObject({
    person: { role: "ad-ops" },
    seenBy: null,
  });
  await role({ role: "analyst" });
  expect((await browsers["ad-ops"].send("showSession")).body).toMatchObject({ person: { role: "analyst" } });
  await sendAsOperator(fixture, operatorToken, "disablePerson", { params: { personId: ids.analyst } });
  expect((await browsers["ad-ops"].send("showSession")).body).toMatchObject({
    person: { role: "ad-ops" },
    seenBy: null,
  });
});

/** The body of the route's example. */
function examplePayload(name: OperatorRouteName): object | undefined {
  const { body }: OperatorRoute = operatorRoutes[name];
  if (body === undefined || body === "file") return undefined;
  return ((body.meta()?.examples as object[] | undefined) ?? [{}])[0];
}

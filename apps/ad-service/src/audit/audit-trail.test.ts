import { type OperatorInput, operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken, trustProxy: ["127.0.0.1"] });
  ({ botId } = await fixture.newBot({ name: "Quiz", dailyCap: 20, testers: ["4242424242"] }));
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send(call: ReturnType<typeof operatorRequest>, address = "203.0.113.7") {
  const { method, path, query = {}, body } = call;
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path}?${new URLSearchParams(named)}`,
    headers: { authorization: `Bearer ${operatorToken}`, "x-forwarded-for": address, "x-request-id": "request-1" },
    ...(body !== undefined && { payload: body }),
  });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
}

const entries = async (query: NonNullable<OperatorInput<"listAuditEntries">["query"]>) =>
  (await send(operatorRequest("listAuditEntries", { query }))).body.entries as Record<string, unknown>[];
const update = (body: object) => send(operatorRequest("updateBot", { params: { botId }, body }));

const run = (text: string) => store.database.run({ name: "", text }, []);

test("a change says who made it, when, from where, and what was before and after", async () => {
  await update({ dailyCap: 30 });
  const [entry] = await entries({ objectKind: "bot", objectId: botId });
  expect(entry).toMatchObject({
    actor: "command-line",
    operation: "updateBot",
    address: "203.0.113.7",
    requestId: "request-1",
    objectName: "Quiz",
  });
  // The changed fields alone.
  expect(entry).toMatchObject({ before: { daily_cap: 20 }, after: { daily_cap: 30 } });
  expect(Object.keys({ ...(entry?.before as object), ...(entry?.after as object) })).toEqual(["daily_cap"]);
  expect(Math.abs(Date.parse(String(entry?.at)) - Date.now())).toBeLessThan(60_000);
});

test("a request that is refused or changes nothing leaves no entry", async () => {
  const count = async () => (await entries({})).length;
  const before = await count();
  expect((await update({ dailyCap: 0 })).status).toBe(400);
  expect((await update({ rewardPerView: 5 })).status).toBe(400);
  expect((await send(operatorRequest("createToken", { params: { botId: "999" } }))).status).toBe(404);
  expect((await send(operatorRequest("createToken", { params: { botId } }))).status).toBe(201);
  expect((await send(operatorRequest("createToken", { params: { botId } }))).status).toBe(409);
  expect(await count()).toBe(before + 1);
});

test("the entry of a new object has all of its fields, and nothing before", async () => {
  const created = await send(operatorRequest("addBot", { body: { botId: "77002", name: "New" } }));
  expect(created.status).toBe(201);
  const [entry] = await entries({ objectKind: "bot", objectId: "77002" });
  expect(entry).toMatchObject({
    objectName: "New",
    before: null,
    after: { name: "New", daily_cap: expect.any(Number) },
  });
});

test("an entry and its change are one commit: an entry that fails undoes the change", async () => {
  const before = (await entries({})).length;
  await run("alter table audit_entries add constraint planted check (after ->> 'name' <> 'Never') not valid");
  expect((await update({ name: "Never" })).status).toBe(500);
  await run("alter table audit_entries drop constraint planted");
  expect((await send(operatorRequest("showBot", { params: { botId } }))).body.name).toBe("Quiz");
  expect((await entries({})).length).toBe(before);
});

test("two changes of one object at the same time are recorded one after the other", async () => {
  await Promise.all([31, 32, 33, 34].map((dailyCap) => update({ dailyCap })));
  const trail = (await entries({ objectId: botId, operation: "updateBot" })).slice(0, 4).reverse() as {
    before: { daily_cap: number };
    after: { daily_cap: number };
  }[];
  for (const [index, { before }] of trail.entries()) {
    if (index > 0) expect(before.daily_cap).toBe(trail[index - 1]?.after.daily_cap);
  }
});

test("no secret and no id of a user is in the trail", async () => {
  const created = await send(operatorRequest("addBot", { body: { botId: "77001", testers: ["4242424243"] } }));
  const invited = await send(operatorRequest("invitePerson", { body: { email: "ann@ads.test", role: "owner" } }));
  await send(operatorRequest("eraseUser", { params: { botId, userId: "4242424242" } }));
  const rows = await store.database.run<{ row: string }>(
    { name: "", text: "select audit_entries::text as row from audit_entries" },
    [],
  );
  const all = rows.map(({ row }) => row).join("\n");
  const link = String(invited.body.link).split("#")[1] ?? "";
  for (const secret of [String(created.body.token), link, "4242424242", "4242424243", operatorToken])
    expect(all).not.toContain(secret);
  expect(all).not.toMatch(/ciphertext|totp_secret|invitation_hash|password_hash/);
  expect(all).toContain("eraseUser");
});

test("an entry is neither changed nor removed", async () => {
  for (const text of ["update audit_entries set actor = 'x'", "delete from audit_entries", "truncate audit_entries"]) {
    await expect(store.database.run({ name: "", text }, [])).rejects.toThrow("audit_entries is append-only");
  }
});

test("the trail is searched by actor, operation, object, text and time, and read in pages", async () => {
  await update({ name: "Quiz of the day" });
  expect(await entries({ text: "of the DAY" })).toHaveLength(1);
  expect((await entries({ actor: "command-line", limit: "1" }))[0]).toMatchObject({ operation: "updateBot" });
  expect(await entries({ actor: "per_nobody" })).toEqual([]);
  expect(await entries({ from: "2090-01-01" })).toEqual([]);
  const whole = await entries({});
  const first = await send(operatorRequest("listAuditEntries", { query: { limit: "2" } }));
  const rest = await entries({ before: String(first.body.next) });
  expect([...(first.body.entries as object[]), ...rest]).toEqual(whole);
});

import { type Access, type Role, roles } from "@intermission/operator-api/access";
import { campaignSorts } from "@intermission/operator-api/campaign-words";
import { creativeSorts } from "@intermission/operator-api/creative-words";
import { type OperatorRouteName, operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { OperatorRoute } from "@intermission/operator-api/route";
import { secretBox as openSecretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { invitePerson, newPersonId } from "./people.ts";
import { openSession } from "./sessions.ts";

/** Two publishers and two advertisers with one object of each kind; everything of the second has this word in it. */
const FOREIGN = "foreign";
const origin = "http://ads.test";
let store: TestDatabase;
let fixture: AppFixture;
const cookies = {} as Record<Role, string>;
type Objects = Record<"botId" | "eventId" | "campaignId" | "creativeId" | "advertiser", string>;
const own = { eventId: "evt_own", campaignId: "cmp_own", creativeId: "cre_own", advertiser: "Own shop", botId: "" };
const foreign = {
  eventId: "evt_foreign",
  campaignId: "cmp_foreign",
  creativeId: "cre_foreign",
  advertiser: "Foreign shop",
  botId: "",
};

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const { database } = store;
  fixture = await openAppFixture(database);
  for (const [word, objects] of [["own", own] as const, [FOREIGN, foreign] as const]) {
    objects.botId = (await fixture.newBot({ name: `${word} bot`, webhookUrl: "https://hooks.test/" })).botId;
    await insertObjects(word, objects);
  }
  const secretBox = openSecretBox(Buffer.alloc(32));
  for (const role of roles) {
    const personId = newPersonId();
    const invitation = {
      email: `${role}@ads.test`,
      role,
      ...(role === "advertiser" && { advertiser: own.advertiser }),
      ...(role === "publisher" && { botIds: [own.botId] }),
    };
    await invitePerson({ database, secretBox }, { personId, invitation, now: fixture.clock.now });
    const { token } = await database.transaction((tx) => openSession(tx, { personId, now: fixture.clock.now }));
    cookies[role] = `__Host-operator=${token}`;
  }
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function insertObjects(
  word: string,
  { botId, eventId, campaignId, creativeId, advertiser }: Objects,
): Promise<void> {
  const run = (text: string) => store.database.run({ name: "", text }, []);
  await run(`insert into advertisers (advertiser_id, name, name_key)
    values ('adv_${word}', '${advertiser}', lower('${advertiser}'))`);
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats)
    values ('${campaignId}', '${word} campaign', 'adv_${word}', '{rewarded}')`);
  await run(`insert into creatives (creative_id, name, kind, url, advertiser_id)
    values ('${creativeId}', '${word} video', 'vast', 'https://tags.test/', 'adv_${word}')`);
  await run(`insert into events (event_id, bot_id, event, user_id, occurred_at)
    values ('${eventId}', '${botId}', 'rewarded', '1', now())`);
  await run(`insert into event_bodies (event_id, bot_id, body) values ('${eventId}', '${botId}', '"${word} event"')`);
  const number = word === "own" ? 1 : 3;
  await run(`insert into money_statements
      (number, account, month, name, currency, opening_micros, closing_micros, lines, issued_at)
    select ${number} + n, account, '2026-02-01', '${word} name', 'USD', 0, 5, '[]', now()
    from unnest(array['advertiser:adv_${word}', 'publisher:${botId}']) with ordinality as one (account, n)`);
  for (const account of [`advertiser:adv_${word}`, `publisher:${botId}`])
    await run(`with made as (insert into money_transactions values ('${word} ${account}', '${word} invoice'))
      insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
      values ('${word} ${account}', '${account}', 'top_up', 5, 'USD', now()),
        ('${word} ${account}', 'cash', 'top_up', -5, 'USD', now())`);
  // What settles the charges of an advertiser in a bot names the advertiser.
  const charge = `charge adv_${FOREIGN} 2026-02 ${number}`;
  await run(`with made as (insert into money_transactions values ('${charge}'))
    insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
    values ('${charge}', 'advertiser:adv_${FOREIGN}', 'charge', -5, 'USD', now()),
      ('${charge}', 'publisher:${botId}', 'charge', 5, 'USD', now())`);
  await run(
    `insert into deliveries (bot_id, event_id, state, due_at) values ('${botId}', '${eventId}', 'failed', now())`,
  );
}

/** A request about these objects, with what its route names: other fields are left out, so that it may be refused as bad. */
async function request(
  name: OperatorRouteName,
  role: Role | undefined,
  objects: Partial<Objects>,
  headers: object = {},
) {
  const route: OperatorRoute = operatorRoutes[name];
  const values = {
    tokenId: "tok_1",
    language: "en",
    userId: "1",
    code: "x",
    personId: "per_1",
    savedReportId: "rep_1",
    uploadId: "0".repeat(48),
    runId: "run_1",
  };
  const others = { sessionId: `${objects.botId ?? 1}-${"a".repeat(25)}`, clickId: "clk_1", number: "2" };
  const all: Record<string, string | undefined> = { ...values, ...others, ...own, ...objects };
  const path = route.path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(all[param] ?? ""));
  const query = new URLSearchParams({ name: "x", from: "2026-02-28", scope: "failed", since: "2026-02-28" });
  for (const [key, value] of Object.entries(objects)) if (!route.path.includes(`:${key}`)) query.set(key, value);
  if (!["uploadVideo"].includes(name)) query.delete("name");
  if (name !== "countReplayable") for (const field of ["scope", "since"]) query.delete(field);
  else for (const field of ["from", ...Object.keys(objects)]) query.delete(field);
  const answer = await fixture.app.inject({
    method: route.method,
    url: `/operator/v1${path}?${query}`,
    headers: { origin, ...(role !== undefined && { cookie: cookies[role] }), ...headers },
    ...(route.body !== undefined && route.body !== "file" && { payload: exampleOf(route.body) }),
  });
  return {
    status: answer.statusCode,
    text: answer.body.toLowerCase(),
    body: (isJson(answer) ? answer.json() : {}) as { error?: { code: string } },
  };
}

const isJson = ({ headers }: { headers: Record<string, unknown> }) =>
  String(headers["content-type"]).startsWith("application/json");

function exampleOf(body: Exclude<OperatorRoute["body"], "file" | undefined>): object {
  return ((body.meta()?.examples as object[] | undefined) ?? [{}])[0] ?? {};
}

const names = Object.keys(operatorRoutes) as OperatorRouteName[];
const ruleOf = (name: OperatorRouteName): Access => operatorRoutes[name].access;
const grantOf = (name: OperatorRouteName, role: Role) => {
  const rule = ruleOf(name);
  return typeof rule === "string" ? "all" : rule[role];
};
/** These end the session that the other cases use. */
const ending = new Set<OperatorRouteName>(["signOut", "signOutEverywhere", "signIn", "acceptInvitation"]);

test.each([
  ["publisher", "showBot"],
  ["publisher", "listEventsOfBot"],
  ["publisher", "showEndpoint"],
  ["publisher", "showDelivery"],
  ["publisher", "showNotices"],
  ["publisher", "listPublisherEntries"],
  ["publisher", "listPublisherStatements"],
  ["publisher", "readEarnings"],
  ["publisher", "showPayee"],
  ["publisher", "createToken"],
  ["advertiser", "showCampaign"],
  ["advertiser", "showCreative"],
  ["advertiser", "renameCreative"],
  ["advertiser", "setLegalLine"],
  ["advertiser", "pauseCampaign"],
  ["advertiser", "showAdvertiserMoney"],
  ["advertiser", "listAdvertiserEntries"],
  ["advertiser", "listAdvertiserStatements"],
  ["advertiser", "showAdvertiserParty"],
  ["advertiser", "issuePostbackKey"],
] as const)(
  "a %s uses %s for the own object; a foreign one is answered as one that does not exist",
  async (role, name) => {
    expect((await request(name, role, {})).status).toBeLessThan(300);
    const unknown = {
      botId: "999",
      eventId: "evt_none",
      campaignId: "cmp_none",
      creativeId: "cre_none",
      advertiser: "nobody",
    };
    const kind = (Object.keys(unknown) as (keyof Objects)[]).filter((key) =>
      operatorRoutes[name].path.includes(`:${key}`),
    );
    const only = (objects: Objects) => Object.fromEntries(kind.map((key) => [key, objects[key]]));
    const refused = await request(name, role, only(foreign));
    const missing = await request(name, "owner", only(unknown));
    const nameless = (text: string) =>
      [...Object.values(foreign), ...Object.values(unknown)].reduce(
        (one, id) => one.replaceAll(id.toLowerCase(), "id"),
        text,
      );
    expect({ status: refused.status, text: nameless(refused.text) }).toEqual({
      status: 404,
      text: nameless(missing.text),
    });
  },
);

test("a session names the routes of its role, from which the console offers only what works", async () => {
  const routesFor = async (role: Role) => {
    const { body } = await request("showSession", role, {});
    return (body as { routes?: string[] }).routes;
  };
  for (const role of roles) {
    const granted = names.filter((name) => typeof ruleOf(name) === "string" || grantOf(name, role) !== undefined);
    expect(await routesFor(role), role).toEqual(granted);
  }
  expect(await routesFor("owner")).not.toContain("createSignInLink");
  expect(await routesFor("advertiser")).toContain("raiseBudget");
  for (const name of ["updateCampaign", "approveCreative", "listBots"])
    expect(await routesFor("advertiser")).not.toContain(name);
});

test("a publisher changes of its own bot the address, limits, testers and blocks, and is asked about no advertiser", async () => {
  const change = (botId: string, payload: object) =>
    fixture.app.inject({
      method: "PATCH",
      url: `/operator/v1/bots/${botId}`,
      headers: { origin, cookie: cookies.publisher },
      payload,
    });
  const settings = {
    webhookUrl: "https://hooks.test/new",
    dailyCap: 7,
    cooldownSeconds: 90,
    testers: ["501"],
    blockedCategories: ["betting"],
    blockedAdvertisers: ["Somebody else"],
  };
  const changed = await change(own.botId, settings);
  expect([changed.statusCode, changed.json()]).toEqual([
    200,
    expect.objectContaining({ ...settings, webhookUrl: settings.webhookUrl }),
  ]);
  const endpoint = await request("showEndpoint", "publisher", { botId: own.botId });
  expect(endpoint.body).toMatchObject({ state: "pending" });
  expect((await change(foreign.botId, { dailyCap: 7 })).statusCode).toBe(404);
  for (const [name, value] of Object.entries({
    name: "Other",
    payPerCode: "each",
    suspiciousViews: "pay",
    includeRevenue: true,
    deliveryMode: "at-most-once",
    codeLifetimeSeconds: 60,
  })) {
    const refused = await change(own.botId, { dailyCap: 8, [name]: value });
    expect([name, refused.statusCode, refused.json().error.details]).toEqual([
      name,
      400,
      [expect.objectContaining({ field: name, code: "OPERATOR_ONLY" })],
    ]);
  }
  expect((await request("showBot", "publisher", { botId: own.botId })).body).toMatchObject({ dailyCap: 7 });
});

test("an advertiser raises a budget of its own campaign, and changes nothing else of it", async () => {
  await store.database.run({ name: "", text: "update campaigns set daily_budget_micros = 1000000" }, []);
  const raise = (campaignId: string, role: Role) =>
    fixture.app.inject({
      method: "PATCH",
      url: `/operator/v1/campaigns/${campaignId}/budget`,
      headers: { origin, cookie: cookies[role] },
      payload: { dailyBudgetMicros: 2_000_000 },
    });
  expect((await raise("cmp_own", "advertiser")).json()).toMatchObject({ dailyBudgetMicros: 2_000_000 });
  expect((await raise("cmp_foreign", "advertiser")).statusCode).toBe(404);
  for (const role of ["publisher", "analyst", "finance"] as const)
    expect((await raise("cmp_own", role)).statusCode, role).toBe(403);
  expect((await request("updateCampaign", "advertiser", {})).status).toBe(403);
});

test("reports are of the own bot or advertiser, without the money of the other side, also as CSV", async () => {
  const report = (role: Role, query: string, path = "stats") =>
    fixture.app.inject({ url: `/operator/v1/${path}?${query}`, headers: { cookie: cookies[role] } });
  const ofBot = `botId=${own.botId}&by=day`;
  const ofAdvertiser = `advertiser=${encodeURIComponent(own.advertiser)}&by=campaign`;
  const figuresFor = async (role: Role, query: string) => Object.keys((await report(role, query)).json().total);
  expect(await figuresFor("owner", ofBot)).toEqual(
    expect.arrayContaining(["spendMicros", "revenueMicros", "ecpmMicros"]),
  );
  const ofPublisher = await figuresFor("publisher", ofBot);
  expect([ofPublisher.includes("revenueMicros"), ofPublisher.includes("spendMicros")]).toEqual([true, false]);
  const ofBuyer = await figuresFor("advertiser", ofAdvertiser);
  expect(["spendMicros", "revenueMicros", "ecpmMicros"].map((name) => ofBuyer.includes(name))).toEqual([
    true,
    false,
    false,
  ]);
  const { conversionSums, deliveries } = (await report("publisher", ofBot)).json();
  expect([conversionSums, deliveries]).toEqual([[], expect.anything()]);
  const headOf = async (role: Role, query: string) =>
    (await report(role, `${query}&heading=no`, "stats.csv")).body.split("\r\n")[0];
  expect(await headOf("publisher", ofBot)).not.toMatch(/spend/);
  expect(await headOf("advertiser", ofAdvertiser)).not.toMatch(/revenue|ecpm/i);

  await store.database.run(
    {
      name: "",
      text: "update creatives set name = 'Secret' where creative_id = 'cre_foreign'",
    },
    [],
  );
  const namesFor = async (role: Role, query: string) =>
    (await report(role, `${query}&creativeId=cre_foreign`)).json().of;
  expect(await namesFor("owner", "by=day")).toEqual({ creative: "Secret" });
  expect(Object.keys(await namesFor("publisher", ofBot))).toEqual(["bot"]);
  // Refused: it is another advertiser's.
  expect(await namesFor("advertiser", ofAdvertiser)).toBeUndefined();

  const cases: [Role, string, number][] = [
    ["publisher", "by=day", 403],
    ["publisher", `botId=${foreign.botId}`, 404],
    ["publisher", `${ofBot}&orderBy=spendMicros`, 403],
    ["publisher", `botId=${own.botId}&by=advertiser`, 403],
    ["publisher", `${ofBot}&advertiser=${encodeURIComponent(foreign.advertiser)}`, 403],
    ["publisher", `${ofBot}&campaignId=${foreign.campaignId}`, 200],
    ["publisher", `${ofBot}&campaignId=cmp_none`, 200],
    ["advertiser", "by=day", 403],
    ["advertiser", `botId=${own.botId}`, 403],
    ["advertiser", `advertiser=${encodeURIComponent(foreign.advertiser)}`, 404],
    ["advertiser", `${ofAdvertiser}&campaignId=${foreign.campaignId}`, 404],
    ["advertiser", `${ofAdvertiser}&orderBy=ecpmMicros`, 403],
    ["analyst", "by=country", 200],
  ];
  for (const [role, query, status] of cases)
    for (const path of ["stats", "stats.csv"])
      expect([role, path, query, (await report(role, query, path)).statusCode]).toEqual([role, path, query, status]);
});

test("lists are limited to the own objects, which the request names", async () => {
  expect((await request("listCampaigns", "advertiser", {})).status).toBe(403);
  const listed = await request("listCampaigns", "advertiser", { advertiser: "OWN shop" });
  expect(listed).toMatchObject({ status: 200, body: { campaigns: [{ campaignId: "cmp_own" }] } });
  expect((await request("listCampaigns", "advertiser", { advertiser: foreign.advertiser })).status).toBe(404);
  expect((await request("listDeliveries", "publisher", {})).status).toBe(403);
  expect((await request("listDeliveries", "publisher", { botId: own.botId })).status).toBe(200);
  expect((await request("listDeliveries", "publisher", { botId: foreign.botId })).status).toBe(404);
  // A cursor would say whether a foreign campaign exists.
  const url = "/operator/v1/campaigns?advertiser=Own%20shop&after=";
  const headers = { cookie: cookies.advertiser };
  for (const after of [foreign.campaignId, "cmp_none"]) {
    expect((await fixture.app.inject({ url: `${url}${after}`, headers })).statusCode, after).toBe(404);
  }
  expect((await fixture.app.inject({ url: `${url}cmp_own`, headers })).statusCode).toBe(200);
});

test("by every filter and order, a list of an advertiser's person has only what is its own", async () => {
  // The operator shows the own creative in a campaign of another advertiser.
  const shown =
    "insert into campaign_creatives (campaign_id, creative_id) values ($1, 'cre_own') on conflict do nothing";
  for (const campaignId of ["cmp_own", "cmp_foreign"])
    await store.database.run({ name: "", text: shown }, [campaignId]);
  // Other tests may have changed it.
  await store.database.run({ name: "", text: "update creatives set review = 'approved', review_reason = null" }, []);
  const read = (path: string, query: string) =>
    fixture.app.inject({
      url: `/operator/v1${path}?advertiser=Own%20shop&${query}`,
      headers: { cookie: cookies.advertiser },
    });
  const orders = (sorts: readonly string[]) => sorts.flatMap((sort) => [`sort=${sort}`, `sort=-${sort}`]);
  const campaigns = ["phase=unapproved", "format=rewarded", "creativeId=cre_own", "find=campaign", "archived=true"];
  for (const query of [...orders(campaignSorts), ...campaigns, "find=own&sort=-spent&after=cmp_own"]) {
    const answer = await read("/campaigns", query);
    expect([query, answer.statusCode, answer.body.toLowerCase().includes(FOREIGN)]).toEqual([query, 200, false]);
    expect(answer.json().total, query).toBeLessThanOrEqual(1);
  }
  for (const query of [...orders(creativeSorts), "find=cre_own", "kind=vast", "review=approved"]) {
    const answer = await read("/creatives", query);
    expect([query, answer.statusCode, answer.body.toLowerCase().includes(FOREIGN)]).toEqual([query, 200, false]);
    expect(answer.json(), query).toMatchObject({ total: 1, creatives: [{ campaignCount: 1 }] });
  }
  for (const query of ["creativeId=cre_foreign", "sort=-spent&after=cmp_foreign", "find=x&after=cmp_foreign"])
    expect((await read("/campaigns", query)).statusCode, query).toBe(404);
  expect((await read("/creatives", "sort=-size&after=cre_foreign")).statusCode).toBe(404);
  // Bots, endpoints and money of all are for the operator's people.
  for (const path of ["/bots", "/endpoints", "/money/advertisers", "/advertisers"])
    for (const role of ["advertiser", "publisher"] as const) {
      const url = `/operator/v1${path}?find=own&sort=name&bots=${own.botId}&botId=${own.botId}`;
      expect((await fixture.app.inject({ url, headers: { cookie: cookies[role] } })).statusCode, path).toBe(403);
    }
});

test("a statement is read by whose account it is of; a foreign number is one that does not exist", async () => {
  const read = async (role: "advertiser" | "publisher", number: string) => {
    const side = role === "advertiser" ? `advertisers/${own.advertiser}` : `publishers/${own.botId}`;
    const url = `/operator/v1/money/${encodeURI(side)}/statements/${number}?format=csv`;
    const answer = await fixture.app.inject({ url, headers: { cookie: cookies[role] } });
    return { status: answer.statusCode, hasForeign: answer.body.includes(FOREIGN) };
  };
  expect(await read("advertiser", "2")).toEqual({ status: 200, hasForeign: false });
  expect(await read("publisher", "3")).toEqual({ status: 200, hasForeign: false });
  for (const number of ["3", "4", "5", "99"]) expect((await read("advertiser", number)).status, number).toBe(404);
  for (const number of ["2", "4", "5", "99"]) expect((await read("publisher", number)).status, number).toBe(404);
});

test("a statement's link that is opened without a session leads to the console; programs get the error", async () => {
  const url = `/operator/v1/money/publishers/${own.botId}/statements/1?format=html`;
  for (const cookie of [undefined, `__Host-operator=${"A".repeat(43)}`]) {
    const sent = cookie === undefined ? {} : { cookie };
    const opened = await fixture.app.inject({ url, headers: { ...sent, "sec-fetch-mode": "navigate" } });
    expect([opened.statusCode, opened.headers.location]).toEqual([302, expect.stringMatching(/\/console$/)]);
    const read = await fixture.app.inject({ url, headers: { ...sent, "sec-fetch-mode": "cors" } });
    expect(read.statusCode).toBe(cookie === undefined ? 404 : 401);
  }
});

test("a page of another origin cannot use a session, and no page without one", async () => {
  for (const headers of [{ origin: "https://evil.test" }, { origin: "null" }, { origin: `${origin}.evil.test` }]) {
    expect(await request("suspendBot", "owner", {}, headers)).toMatchObject({
      status: 403,
      body: { error: { code: "OTHER_ORIGIN" } },
    });
  }
  expect((await request("signIn", undefined, {}, { origin: "https://evil.test" })).status).toBe(403);
  expect((await request("listBots", undefined, {})).status).toBe(404);
  expect((await request("suspendBot", "owner", {})).status).toBe(200);
});

test("no route that may change something takes a request of another page, with a session or without one", async () => {
  const changing = names.filter((name) => operatorRoutes[name].method !== "GET");
  for (const headers of [{ origin: "https://evil.test" }, { origin: "null" }]) {
    for (const name of changing)
      expect([name, (await request(name, "owner", {}, headers)).body.error?.code]).toEqual([name, "OTHER_ORIGIN"]);
    for (const name of changing.filter((one) => ruleOf(one) === "anyone"))
      expect([name, (await request(name, undefined, {}, headers)).body.error?.code]).toEqual([name, "OTHER_ORIGIN"]);
  }
});

test("a cookie that is no session is refused, and too many of them are slowed down", async () => {
  const cookie = `__Host-operator=${"A".repeat(43)}`;
  const tries = [];
  for (let attempt = 0; attempt < 25; attempt++)
    tries.push((await request("listBots", undefined, {}, { cookie })).status);
  expect(tries[0]).toBe(401);
  expect(tries.at(-1)).toBe(429);
  expect((await request("listBots", "owner", {})).status).toBe(200);
});

// The roles that may change more come last.
test.each(roles.toReversed())(
  "the role %s reaches what the table grants, and is refused everything else",
  async (role) => {
    for (const name of names.filter((one) => !ending.has(one))) {
      const { status, body } = await request(name, role, {});
      const grant = grantOf(name, role);
      const isRefused = status === 403 && body.error?.code === "FORBIDDEN";
      const where = `${name} as ${role}: ${status} ${JSON.stringify(body.error)}`;
      if (grant === undefined) expect(isRefused || status === 400, where).toBe(true);
      else if (grant === "all") expect(isRefused, where).toBe(false);
      if (grant === undefined) expect(status, where).toBeGreaterThanOrEqual(400);
      expect(status, where).toBeLessThan(500);
    }
  },
);

test.each(["advertiser", "publisher"] as const)("nothing of others reaches the role %s, on any route", async (role) => {
  for (const name of names.filter((one) => !ending.has(one))) {
    const { path, query }: OperatorRoute = operatorRoutes[name];
    const fields = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
    const isField = ([key]: [string, string]) => path.includes(`:${key}`) || fields.includes(key);
    const each = Object.entries(foreign).filter(isField);
    // Of an own object, too, nothing of others is told.
    for (const objects of [own, foreign, ...each.map(([key, id]) => ({ [key]: id }))]) {
      const { status, text, body } = await request(name, role, objects);
      const isNamed = Object.keys(objects).some((key) => operatorRoutes[name].path.includes(`:${key}`));
      const where = `${name} as ${role} about ${JSON.stringify(objects)}: ${status} ${text.slice(0, 200)}`;
      if (typeof ruleOf(name) === "object" && isNamed && objects !== own)
        expect([400, 403, 404], where).toContain(status);
      // The refusal repeats the name that the request has.
      if (body.error === undefined) expect(text, where).not.toContain(FOREIGN);
    }
  }
});

test("a changed role holds from the next request on, the sessions end, and nobody changes the own one", async () => {
  const { database } = store;
  const personId = newPersonId();
  const invitation = { email: "eve@ads.test", role: "ad-ops" as const };
  const { now } = fixture.clock;
  await invitePerson({ database, secretBox: openSecretBox(Buffer.alloc(32)) }, { personId, invitation, now });
  const { token } = await database.transaction((tx) => openSession(tx, { personId, now }));
  const change = (id: string, payload: object) =>
    fixture.app.inject({
      method: "PUT",
      url: `/operator/v1/people/${id}/role`,
      headers: { origin, cookie: cookies.owner },
      payload,
    });
  const changed = await change(personId, { role: "publisher", botIds: [own.botId] });
  expect(changed.json()).toMatchObject({ role: "publisher", botIds: [own.botId], advertiserId: null });
  const listBots = {
    remoteAddress: "198.51.100.9",
    url: "/operator/v1/bots",
    headers: { cookie: `__Host-operator=${token}` },
  };
  expect((await fixture.app.inject(listBots)).statusCode).toBe(401);
  expect((await change(personId, { role: "publisher" })).json().error.message).toContain(
    "needed for the role publisher",
  );
  expect((await change(personId, { role: "analyst", botIds: [own.botId] })).statusCode).toBe(400);
  expect((await change(personId, { role: "advertiser", advertiser: "Nobody" })).statusCode).toBe(400);
  expect((await change("per_nobody", { role: "analyst" })).statusCode).toBe(404);
  const people = await fixture.app.inject({ url: "/operator/v1/people", headers: { cookie: cookies.owner } });
  const owner = people.json().people.find(({ role }: { role: Role }) => role === "owner");
  expect((await change(owner.personId, { role: "analyst" })).json().error.code).toBe("OWN_ACCOUNT");
});

import { randomBytes } from "node:crypto";
import { usualBuyer } from "@intermission/operator-api/buyers";
import { noOperatorParty, noPayee } from "@intermission/operator-api/parties";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addBuyer, updateBuyer } from "../src/buyers/buyers.ts";
import { bidRequestOf } from "../src/demand/openrtb/bid-request.ts";
import { migrations } from "../src/migrations.ts";
import { setParty } from "../src/money/parties.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

const operatorToken = "o".repeat(32);
// The files are kept for a minute: each fixture reads anew.
async function withApp<Result>(use: (fixture: AppFixture) => Promise<Result>): Promise<Result> {
  const fixture = await openAppFixture(store.database, { publicUrl: "https://ads.studio.example", operatorToken });
  try {
    return await use(fixture);
  } finally {
    await fixture.close();
  }
}

async function readFiles({ address }: AppFixture) {
  const text = await fetch(`${address}/ads.txt`);
  const json = await fetch(`${address}/sellers.json`);
  expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(json.headers.get("content-type")).toMatch(/^application\/json/);
  return { adsTxt: await text.text(), sellers: (await json.json()) as { sellers: Record<string, unknown>[] } };
}

/** Records and variables, by the grammar of ads.txt 1.1. */
function parseAdsTxt(text: string) {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  const variables = Object.fromEntries(
    lines.flatMap((line) => [/^([A-Z]+)=(.*)$/.exec(line)?.slice(1) ?? []]).filter((one) => one.length > 0),
  );
  const records = lines
    .filter((line) => line.includes(","))
    .map((line) => line.split(",").map((field) => field.trim()));
  return { variables: variables as Record<string, string>, records };
}

test("before there is a bot, ads.txt authorizes no seller, and does not look absent", async () => {
  const { adsTxt, sellers } = await withApp(readFiles);
  expect(adsTxt).toBe("placeholder.example.com, placeholder, DIRECT, placeholder\n");
  expect(sellers).toEqual({ version: "1.0", sellers: [] });
});

test("both files name the seller that requests name, publish a name only with its domain, and leave out who is suspended", async () => {
  const [named, quiet, suspended] = await withApp(async (fixture) => [
    (await fixture.newBot()).botId,
    (await fixture.newBot()).botId,
    (await fixture.newBot()).botId,
  ]);
  const { database } = store;
  await database.run({ name: "", text: "update bots set is_suspended = true where bot_id = $1" }, [suspended]);
  const payee = { none: noPayee, changes: { legalName: "Quiz Studio", domain: "quiz.example" } };
  await setParty(database, { account: `publisher:${named}`, ...payee });
  await setParty(database, { account: `publisher:${quiet}`, none: noPayee, changes: { legalName: "Jane Doe" } });
  const changes = { domain: "studio.example", contactEmail: "ads@studio.example", tagId: "f08c47fec0942fa0" };
  await setParty(database, { account: "operator", none: noOperatorParty, changes });

  const { adsTxt, sellers } = await withApp(readFiles);
  const { variables, records } = parseAdsTxt(adsTxt);
  expect(variables).toEqual({ OWNERDOMAIN: "studio.example", CONTACT: "ads@studio.example" });
  expect(records.toSorted()).toEqual(
    [named, quiet].map((botId) => ["ads.studio.example", botId, "DIRECT", "f08c47fec0942fa0"]).toSorted(),
  );
  expect(sellers).toMatchObject({
    version: "1.0",
    contact_email: "ads@studio.example",
    identifiers: [{ name: "TAG-ID", value: "f08c47fec0942fa0" }],
  });
  const byId = new Map(sellers.sellers.map(({ seller_id, ...seller }) => [seller_id, seller]));
  expect(byId).toEqual(
    new Map<unknown, unknown>([
      [named, { name: "Quiz Studio", domain: "quiz.example", seller_type: "PUBLISHER" }],
      [quiet, { is_confidential: 1, seller_type: "PUBLISHER" }],
    ]),
  );
  expect(JSON.stringify(sellers)).not.toContain("Jane");

  const opening = {
    format: "rewarded" as const,
    requestId: "1",
    botId: String(named),
    botName: "Quiz",
    userId: "1",
    userAgent: "",
    isPremium: false,
    isTest: false,
  };
  const request = bidRequestOf(
    { ...opening, language: undefined, country: undefined, address: undefined, consent: undefined },
    { ...usualBuyer, userKey: randomBytes(32), skipAfterSeconds: 5 },
    { seller: { publicUrl: "https://ads.studio.example", currency: "USD" }, tmaxMs: 300 },
  );
  const { schain } = request.source;
  expect(schain).toMatchObject({ complete: 1, ver: "1.0" });
  expect(schain.nodes).toHaveLength(1);
  for (const { asi, sid, hp } of schain.nodes) {
    expect(hp).toBe(1);
    expect(records.map(([domain, account]) => `${domain} ${account}`)).toContain(`${asi} ${sid}`);
    expect(byId.has(sid)).toBe(true);
  }
  expect(request.site.domain, "the site whose ads.txt it is").toBe("ads.studio.example");
});

test("records that a buyer asks for are published while it is on, written as the standard has them", async () => {
  await withApp(async (fixture) => {
    const response = await fetch(`${fixture.address}/operator/v1/buyers`, {
      method: "POST",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
      body: JSON.stringify({
        name: "Exchange",
        url: "https://bids.exchange.example/",
        adsTxt: ["Exchange.example,1234,reseller", "exchange.example, 1234, RESELLER, abc"],
      }),
    });
    const { buyerId } = (await response.json()) as { buyerId: string };
    expect((await readFiles(fixture)).adsTxt).not.toContain("exchange.example");
    await updateBuyer(
      { database: store.database, secretBox: fixture.secretBox },
      { buyerId, change: { isActive: true } },
    );
    for (const record of [
      "exchange.example 1234 RESELLER",
      "a, b, DIRECT",
      "exchange.example, 1234, OTHER",
      "x.example, 1\n2, DIRECT",
    ]) {
      const refused = await fetch(`${fixture.address}/operator/v1/buyers/${buyerId}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
        body: JSON.stringify({ adsTxt: [record] }),
      });
      expect(refused.status, record).toBe(400);
      expect(await refused.text(), record).toContain("adsTxt");
    }
  });
  const { adsTxt } = await withApp(readFiles);
  expect(adsTxt).toContain("\nexchange.example, 1234, RESELLER\nexchange.example, 1234, RESELLER, abc\n");
});

test("two buyers that ask for the same record have it once", async () => {
  const deps = { database: store.database, secretBox: { seal: () => Buffer.alloc(0), open: () => "" } as never };
  for (const name of ["One", "Two"]) {
    const url = "https://bids.exchange.example/";
    const added = await addBuyer(deps, {
      ...usualBuyer,
      url,
      name,
      key: null,
      adsTxt: ["same.example, 1, DIRECT"],
      now: new Date(),
    });
    await updateBuyer(deps, { buyerId: added?.buyerId ?? "", change: { isActive: true } });
  }
  const { adsTxt } = await withApp(readFiles);
  expect(adsTxt.split("same.example")).toHaveLength(2);
});

test("bots of the sample traffic sell nothing, and stand in neither file", async () => {
  await withApp(async (fixture) => {
    const { botId } = await fixture.newBot();
    const run = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
    await run(
      "insert into sample (state, bot_ids, advertiser_ids, creative_ids, starts_at, ends_at, written_until) values ('added', array[$1], '{}', '{}', now(), now() + interval '1 day', now())",
      botId,
    );
    const { adsTxt, sellers } = await readFiles(fixture);
    await run("delete from sample");
    expect(adsTxt).not.toContain(botId);
    expect(sellers.sellers.map(({ seller_id }) => seller_id)).not.toContain(botId);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";
import { paidClick } from "./fixtures/paid-click.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let key: string;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  const body = {
    advertiser: "Shop",
    name: "Sale",
    formats: ["direct_link"],
    landingUrl: "https://shop.example",
    clickPriceMicros: 10_000,
  };
  await send(operatorRequest("addCampaign", { query: { confirmed: "true" }, body }));
  key = String((await send(operatorRequest("issuePostbackKey", { params: { advertiser: "Shop" } }))).key);
  ({ botId } = await fixture.newBot());
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function send({ method, path, query = {}, body }: ReturnType<typeof operatorRequest>) {
  const search = new URLSearchParams(query as Record<string, string>);
  const answer = await fetch(`${fixture.address}/operator/v1${path}?${search}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

interface Answer {
  outcome?: string;
  note?: string;
  error?: { message: string };
}

/** Reports a conversion of a new click. */
async function report(fields: Record<string, string>, init: RequestInit = {}) {
  const clickId = await paidClick(store.database, { botId, now: fixture.clock.now });
  const search = new URLSearchParams({ click_id: clickId, key, ...fields });
  const answer = await fetch(`${fixture.address}/postback/v1/conversions?${search}`, init);
  const text = "select event, conversion_id, value_micros::text as micros from conversions where click_id = $1";
  const rows = await store.database.run<{ event: string; conversion_id: string; micros: string | null }>(
    { name: "", text },
    [clickId],
  );
  return { status: answer.status, body: (await answer.json()) as Answer, rows };
}

/** The rows of the table of accepted forms in docs/serving.md: what is sent, and what the table says of it. */
function formsOfPage(): [sent: string, recorded: string][] {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/serving.md"), "utf8");
  const [, table = ""] = /\n\| `value` \| recorded \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  return table
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, forms = "", recorded = ""] =
        line.split(" | ").length === 2 ? ["", ...line.slice(2, -2).split(" | ")] : [];
      const sent = [...forms.matchAll(/`([^`]*)`/g)].map(([, form = ""]) => form);
      if (/^(refused|no value)/.test(recorded)) return sent.map((form): [string, string] => [form, recorded]);
      const amounts = [...recorded.matchAll(/\d+(?:\.\d+)?/g)].map(([amount]) => amount);
      expect(amounts, line).toHaveLength(sent.length);
      return sent.map((form, index): [string, string] => [form, amounts[index] ?? ""]);
    });
}

describe("a postback whose value is written as the page shows", () => {
  test("the page has the table", () => {
    expect(formsOfPage().length).toBeGreaterThan(30);
  });

  test.each(formsOfPage())("%j: %s", async (sent, recorded) => {
    const { status, body, rows } = await report({ value: sent });
    if (recorded.startsWith("refused")) {
      expect(status).toBe(400);
      expect(body.error?.message).toContain("value: must be an amount");
      expect(rows).toEqual([]);
    } else if (recorded.startsWith("no value")) {
      expect(body).toEqual({ outcome: "recorded", note: expect.stringContaining("not filled in") });
      expect(rows).toMatchObject([{ micros: null }]);
    } else {
      expect(body).toEqual({ outcome: "recorded" });
      expect(rows).toMatchObject([{ micros: String(Math.round(Number(recorded) * 1e6)) }]);
    }
  });
});

test.each([
  ["4990000.0", "4990000"],
  ["19989999.999999998", "19990000"],
  ["4.99e6", "4990000"],
  ["[PRICE]", null],
])("micros as %s are %s", async (sent, micros) => {
  expect((await report({ value_micros: sent })).rows).toMatchObject([{ micros }]);
});

test("macros of other fields that were not filled in name nothing", async () => {
  const { body, rows } = await report({ event: "{goal}", conversion_id: "%%ORDER%%", value: "5", currency: "[CUR]" });
  expect(body).toEqual({ outcome: "recorded" });
  expect(rows).toEqual([{ event: "", conversion_id: "", micros: "5000000" }]);
});

test.each([
  ["application/json", ""],
  ["application/json; charset=utf-8", "\r\n"],
  ["application/x-www-form-urlencoded", ""],
  ["text/plain", ""],
])("a POST of the type %s with the body %j has its fields in the address", async (type, body) => {
  const answer = await report({ value: "1" }, { method: "POST", headers: { "content-type": type }, body });
  expect([answer.status, answer.body]).toEqual([200, { outcome: "recorded" }]);
});

test("a body that is no JSON, or of another type, is refused", async () => {
  const post = (type: string) => report({}, { method: "POST", headers: { "content-type": type }, body: "{" });
  expect([(await post("application/json")).status, (await post("application/xml")).status]).toEqual([400, 415]);
});

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "an-operators-token-of-32-characters-or-more";

let store: TestDatabase;
let fixture: AppFixture;
let bot: Awaited<ReturnType<AppFixture["newBot"]>>;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  bot = await fixture.newBot();
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function call(
  method: string,
  path: string,
  { body, token = operatorToken }: { body?: object; token?: string } = {},
) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${fixture.address}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown> & { error?: { message: string } },
  };
}

const link = { name: "Link", advertiser: "Shop", formats: ["direct_link"], landingUrl: "https://shop.test/" };
const addCampaign = (fields: object) => call("POST", "/operator/v1/campaigns", { body: { ...link, ...fields } });
const campaigns = async () => (await call("GET", "/operator/v1/campaigns")).body.campaigns as unknown[];

/** A surface that takes a moment, and the field's name in its answers. */
const surfaces: Record<string, { field: string; send: (moment: unknown) => ReturnType<typeof call> }> = {
  "a campaign's start": { field: "startsAt", send: (startsAt) => addCampaign({ startsAt }) },
  "a campaign's end": { field: "endsAt", send: (endsAt) => addCampaign({ endsAt }) },
  "the operator's statistics": {
    field: "from",
    send: (from) => call("GET", `/operator/v1/stats?from=${encodeURIComponent(String(from))}`),
  },
  "the end of the operator's statistics": {
    field: "to",
    send: (to) => call("GET", `/operator/v1/stats?to=${encodeURIComponent(String(to))}`),
  },
  "a publisher's statistics": {
    field: "from",
    send: (from) => call("GET", `/client/v1/stats?from=${encodeURIComponent(String(from))}`, { token: bot.token }),
  },
  "the end of a publisher's statistics": {
    field: "to",
    send: (to) => call("GET", `/client/v1/stats?to=${encodeURIComponent(String(to))}`, { token: bot.token }),
  },
  "the count of a replay": {
    field: "since",
    send: (since) =>
      call("GET", `/operator/v1/bots/${bot.botId}/replay?scope=failed&since=${encodeURIComponent(String(since))}`),
  },
  "a replay": {
    field: "since",
    send: (since) =>
      call("POST", `/operator/v1/bots/${bot.botId}/replay`, {
        body: { scope: "failed", since, until: "2026-03-02T00:00:00Z" },
      }),
  },
};

const notMoments: [unknown, string][] = [
  [1_804_000_000, "Unix time in seconds: write it as 2027-03-02T15:06:40Z"],
  ["1804000000000", "Unix time in milliseconds: write it as 2027-03-02T15:06:40Z"],
  [true, "true"],
  ["2", '"2"'],
  ["2027-02-31", "2027-02 has 28 days"],
  ["2026-06-31", "2026-06 has 30 days"],
  ["03/04/2027", "03/04/2027"],
  ["2027-03-04T08:00:00", "offset"],
  ["2027-03-04T24:00:00Z", "hours"],
  ["2027-03-04 08:00:00+00:00", "write T"],
  ["1970-01-21T21:06:40Z", "years"],
];

describe.each(Object.keys(surfaces))("%s", (name) => {
  const surface = surfaces[name] ?? expect.unreachable();

  test.each(notMoments)("refuses %j and says how to write it", async (input, words) => {
    const before = await campaigns();
    const { status, body } = await surface.send(input);
    expect({ status, message: body.error?.message }).toEqual({
      status: 400,
      message: expect.stringMatching(new RegExp(`^${surface.field}: must be a date-time such as 2026-01-31T08:00:00Z`)),
    });
    expect(body.error?.message).toContain(words);
    expect(await campaigns()).toEqual(before);
  });

  test.each([
    "2026-02-27T08:00:00+00:00",
    "2026-02-27T17:00:00+09:00",
    "2026-02-27T08:00:00-00:00",
    "2026-02-27t08:00:00z",
    "2026-02-27T08:00:00.123456+00:00",
    "2026-02-27",
  ])("accepts %s", async (moment) => {
    // 409: there is nothing to replay, since the bot has no endpoint.
    expect((await surface.send(moment)).status).toBeOneOf([200, 201, 409]);
  });
});

test("a campaign starts and ends at the moments that were written", async () => {
  const { body } = await addCampaign({ startsAt: "2027-02-28T23:30:00-05:00", endsAt: "2027-04-01" });
  expect(body).toMatchObject({ startsAt: "2027-03-01T04:30:00.000Z", endsAt: "2027-04-01T00:00:00.000Z" });
});

test("a + that an address turned into a blank is named", async () => {
  const { status, body } = await call("GET", "/client/v1/stats?from=2026-02-27T08:00:00+00:00", { token: bot.token });
  expect({ status, message: body.error?.message }).toEqual({ status: 400, message: expect.stringContaining("%2B") });
});

describe("an end before its start is refused", () => {
  test.each<[string, string, () => ReturnType<typeof call>]>([
    ["of a campaign", "endsAt", () => addCampaign({ startsAt: "2027-03-02", endsAt: "2027-03-01" })],
    ["of the operator's statistics", "from", () => call("GET", "/operator/v1/stats?from=2026-02-02&to=2026-02-01")],
    [
      "within one hour",
      "from",
      () => call("GET", "/operator/v1/stats?from=2026-02-02T10:40:00Z&to=2026-02-02T10:20:00Z"),
    ],
    [
      "of a publisher's statistics",
      "from",
      () => call("GET", "/client/v1/stats?from=2026-02-02&to=2026-02-01", { token: bot.token }),
    ],
    [
      "of a replay",
      "since",
      () =>
        call("POST", `/operator/v1/bots/${bot.botId}/replay`, {
          body: { scope: "failed", since: "2026-02-02", until: "2026-02-01" },
        }),
    ],
    [
      "of the count of a replay, which ends now",
      "since",
      () => call("GET", `/operator/v1/bots/${bot.botId}/replay?scope=failed&since=2199-01-01`),
    ],
  ])("%s", async (_name, field, send) => {
    const { status, body } = await send();
    expect({ status, message: body.error?.message }).toEqual({
      status: 400,
      message: expect.stringMatching(new RegExp(`^${field} `)),
    });
  });
});

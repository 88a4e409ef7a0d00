import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, newTelegramId, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "an-operators-token-of-some-length";

let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { mode: "production", operatorToken });
  ({ botId } = await fixture.newBot());
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const call = (method: string, path: string, body: object) =>
  fetch(`${fixture.address}/operator/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const campaign = { advertiser: "Shop", name: "Sale", formats: ["direct_link"] };

/** Every operator request that sets an address which users or this server will open. */
const places: Record<string, (address: string) => Promise<Response>> = {
  "a bot's webhook": (webhookUrl) => call("PATCH", `/bots/${botId}`, { webhookUrl }),
  "a publisher's API": (publisherApiUrl) => call("PATCH", `/bots/${botId}`, { publisherApiUrl }),
  "a VAST tag": (url) => call("POST", "/creatives/tags?confirmed=true", { url }),
  "a video": (url) => call("POST", "/creatives/addresses", { url }),
};
const landingUrl = (url: string) => call("POST", "/campaigns", { ...campaign, landingUrl: url });

describe.each(Object.entries(places))("in production, the address of %s", (_place, set) => {
  test.each([
    "http://rewards.example.com/x",
    "HTTP://rewards.example.com/x",
    "hTTp://rewards.example.com/x",
    " http://a.com/x",
  ])("refuses plain http: %j", async (address) => expect((await set(address)).status).toBe(400));

  test.each(["user@", "user:pass@", ":pass@", "@"])("refuses user info: %s", async (userInfo) => {
    const answer = await set(`https://${userInfo}rewards.example.com/x`);
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 400,
      text: expect.stringContaining("user name or password"),
    });
  });
});

test.each([
  "https://localhost/x",
  "https://bot.localhost./x",
  "https://127.0.0.1:3000/x",
  "https://2130706433/x",
  "https://[::1]/x",
  "https://10.0.0.5/x",
  "https://192.168.1.2/x",
  "https://169.254.169.254/x",
  "https://[fd00::1]/x",
])("in production, a bot's webhook is refused at %s, which nothing is sent to", async (webhookUrl) => {
  const botId = newTelegramId();
  const added = await call("POST", "/bots", { botId, name: "A bot", webhookUrl });
  expect([added.status, await added.text()]).toEqual([400, expect.stringContaining("WEBHOOK_ALLOWED_NETWORKS")]);
});

test("in production, a bot's webhook may be at a public address or a name", async () => {
  for (const webhookUrl of ["https://93.184.216.34/x", "https://bot.example.com/x", "https://localhost.example.com/x"])
    expect((await call("PATCH", `/bots/${botId}`, { webhookUrl })).status).toBe(200);
});

test.each(["user@", "user:pass@", ":pass@", "@"])(
  "a landing page's address is refused with user info: %s",
  async (userInfo) => {
    const answer = await landingUrl(`https://${userInfo}shop.example.com/`);
    expect(await answer.text()).toContain("user name or password");
  },
);

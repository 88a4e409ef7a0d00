import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
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
  test.each(["http://ads.example.com/x", "HTTP://ads.example.com/x", "hTTp://ads.example.com/x", " http://a.com/x"])(
    "refuses plain http: %j",
    async (address) => expect((await set(address)).status).toBe(400),
  );

  test.each(["user@", "user:pass@", ":pass@", "@"])("refuses user info: %s", async (userInfo) => {
    const answer = await set(`https://${userInfo}ads.example.com/x`);
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 400,
      text: expect.stringContaining("user name or password"),
    });
  });
});

test.each(["user@", "user:pass@", ":pass@", "@"])(
  "a landing page's address is refused with user info: %s",
  async (userInfo) => {
    const answer = await landingUrl(`https://${userInfo}shop.example.com/`);
    expect(await answer.text()).toContain("user name or password");
  },
);

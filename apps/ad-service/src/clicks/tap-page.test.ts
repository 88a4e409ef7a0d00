import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/testing/test-database";
import { misjudgedAgents } from "@intermission/testing/visitor-agents";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { migrations } from "../migrations.ts";
import { directLinkRoutes } from "./routes.ts";

/** What a script may post without having read our page. */
const bare = { method: "POST" as const, headers: { "sec-fetch-site": "same-origin" } };
/** Makes a visitor doubtful, so that the response is a page with a form. */
const doubtful = { "accept-language": undefined };

describe.each(testDatabases())("the tap page on the %s store", (kind) => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  beforeAll(async () => {
    store = await openTestDatabase({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  const open = async (settings: Parameters<typeof openDirectLinkFixture>[2] = {}) => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, settings);
  };

  test("of sixty invented users who post without our page, none counts", async () => {
    await open();
    const address = newAddress();
    const codes = await Promise.all(Array.from({ length: 60 }, (_, user) => fixture.issue(String(3000 + user))));
    const answers = await Promise.all(codes.map((code) => fixture.visit(code, { ...bare, address })));
    expect(answers.filter(({ status, body }) => status !== 200 || !body.includes("<form"))).toEqual([]);
    expect([await fixture.events(), await fixture.charges(), await fixture.viewers()]).toEqual([[], [], []]);
    expect(await fixture.refusals()).toEqual({ "tap-asked-no-token": 60 });
  });

  test("a person misclassified by the crawlers' list gets the tap page, and passes", async () => {
    await open();
    for (const [index, [reason, agent]] of misjudgedAgents.entries()) {
      const visit = { address: newAddress(), headers: { "user-agent": agent } };
      const page = await fixture.visit(await fixture.issue(`66${index}`), visit);
      expect([page.status, page.body.includes("<form")], reason).toEqual([200, true]);
      expect((await fixture.tap(page, visit)).status, agent).toBe(303);
    }
    expect(await fixture.events()).toHaveLength(misjudgedAgents.length);
  });

  test("a form that stayed open for longer than its token is valid gets the page again, which then counts", async () => {
    await open();
    const address = newAddress();
    const code = await fixture.issue();
    const page = await fixture.visit(code, { address, headers: doubtful });
    fixture.advance(601);
    const again = await fixture.tap(page, { address });
    expect(again.status).toBe(200);
    expect(await fixture.events()).toEqual([]);
    expect((await fixture.tap(again, { address })).status).toBe(303);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("a phone whose address changes between page and tap gets the page once more, and passes", async () => {
    await open();
    const code = await fixture.issue();
    const page = await fixture.visit(code, { address: "198.51.100.1", headers: doubtful });
    const again = await fixture.tap(page, { address: "2001:db8:5:5::1" });
    expect(again.status).toBe(200);
    // Another address of the same household, on another node.
    expect((await fixture.tap(again, { address: "2001:db8:5:5::2" }, 1)).status).toBe(303);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("a token of another code or another address counts nothing", async () => {
    await open();
    const [mine, other] = [await fixture.issue("501"), await fixture.issue("502")];
    const page = await fixture.visit(mine, { address: "198.51.100.1", headers: doubtful });
    const forged = { ...page, body: page.body.replaceAll(mine, other) };
    expect((await fixture.tap(forged, { address: "198.51.100.1" })).status).toBe(200);
    expect((await fixture.tap(page, { address: "198.51.100.2" })).status).toBe(200);
    expect(
      (await fixture.tap(page, { address: "198.51.100.1", headers: { "sec-fetch-site": "cross-site" } })).status,
    ).toBe(200);
    expect(await fixture.events()).toEqual([]);
    expect((await fixture.tap(page, { address: "198.51.100.1" })).status).toBe(303);
  });

  test.each([
    ["an unknown content type", { "content-type": "application/octet-stream" }, "x=1"],
    ["JSON", { "content-type": "application/json" }, '{"token":"x"}'],
    ["fields twice", { "content-type": "application/x-www-form-urlencoded" }, "token=a&token=b"],
    ["bytes that are no text", { "content-type": "application/x-www-form-urlencoded" }, "token=%ff%fe%00"],
    ["no body", {}, ""],
  ])("a post of %s gets the page and counts nothing", async (_what, headers, body) => {
    await open();
    const answer = await fixture.visit(await fixture.issue(), {
      method: "POST",
      headers: { ...bare.headers, ...headers },
      body,
    });
    expect([answer.status, answer.body.includes("<form")]).toEqual([200, true]);
    expect(await fixture.events()).toEqual([]);
  });

  describe("behind a proxy that rewrites Host, a browser without Sec-Fetch headers", () => {
    const old = { "sec-fetch-site": undefined, host: "10.0.0.5:8701" };

    test.each([
      ["the direct links' own address", "https://go.example.com"],
      ["the direct links' address with a path", "https://go.example.com/l"],
      ["the same address in another spelling", "HTTPS://GO.example.com:443"],
    ])("passes with %s", async (_what, directLinkUrl) => {
      await open({ directLinkUrl });
      const address = newAddress();
      const page = await fixture.visit(await fixture.issue(), { address, headers: { ...doubtful, host: old.host } });
      const posted = page.body.replace('action="/l/', 'action="/');
      const headers = { ...old, origin: "https://go.example.com" };
      expect((await fixture.tap({ ...page, body: posted }, { address, headers })).status).toBe(303);
      expect(await fixture.events()).toHaveLength(1);
    });

    test("that sends no origin, or hides it, passes with its token", async () => {
      await open({ directLinkUrl: "https://go.example.com" });
      for (const [user, origin] of [
        ["501", undefined],
        ["502", "null"],
      ] as const) {
        const address = newAddress();
        const page = await fixture.visit(await fixture.issue(user), {
          address,
          headers: { ...doubtful, host: old.host },
        });
        expect((await fixture.tap(page, { address, headers: { ...old, origin } })).status).toBe(303);
      }
    });

    test("does not pass with another site's form", async () => {
      await open({ directLinkUrl: "https://go.example.com" });
      const address = newAddress();
      const page = await fixture.visit(await fixture.issue(), { address, headers: { ...doubtful, host: old.host } });
      for (const origin of [
        "https://evil.example",
        "https://go.example.com.evil.example",
        "http://go.example.com:81",
        "x",
      ]) {
        expect((await fixture.tap(page, { address, headers: { ...old, origin } })).status).toBe(200);
      }
      expect(await fixture.events()).toEqual([]);
    });
  });

  test("the form posts to the address of the direct links, also below a path", async () => {
    await open({ directLinkUrl: "https://example.com/go" });
    const code = await fixture.issue();
    expect((await fixture.visit(code, { headers: doubtful })).body).toContain(`action="/go/${code}"`);
  });
});

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { misjudgedAgents } from "@intermission/testing/visitor-agents";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture, type VisitAnswer } from "../../test/fixtures/direct-link-fixture.ts";
import { migrations } from "../migrations.ts";
import { listClicks } from "../reviews/list-clicks.ts";
import { directLinkRoutes } from "./routes.ts";

/** What a script may post without having read our page. */
const bare = { method: "POST" as const, headers: { "sec-fetch-site": "same-origin" } };
/** Makes a visitor doubtful, so that the response is a page with a form. */
const doubtful = { "accept-language": undefined };

const cookieLineOf = (page: VisitAnswer) => page.headers["set-cookie"]?.[0] ?? "";
const cookieOf = (page: VisitAnswer) => cookieLineOf(page).split(";")[0];

describe("the tap page", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
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

  describe("a person whose address is another one at each request", () => {
    let requests = 0;
    /** IPv4 and IPv6 in turn, each in another network. */
    const nextAddress = () => {
      requests += 1;
      return requests % 2 === 0 ? newAddress() : `2001:db8:${requests.toString(16)}:5::1`;
    };
    const suspicionsOf = async () => {
      const clicks = (await listClicks(store.database, { botId: fixture.botId, limit: 100 })).rows;
      return clicks.map(({ state, suspicions }) => [state, suspicions]);
    };
    /** Taps until the page is left, on both nodes in turn. */
    async function follow(code: string, visit: { refusesCookies?: boolean } = {}) {
      fixture.advance(5);
      let answer = await fixture.visit(code, { address: nextAddress(), headers: doubtful });
      let taps = 0;
      while (answer.status === 200 && taps < 10) {
        taps += 1;
        answer = await fixture.tap(answer, { ...visit, address: nextAddress() }, taps % 2);
      }
      return { taps, status: answer.status };
    }

    test("passes with one tap, and the changed address is a suspicion only", async () => {
      await open();
      for (let user = 0; user < 8; user++) {
        expect(await follow(await fixture.issue(`52${user}`))).toEqual({ taps: 1, status: 303 });
      }
      expect(await fixture.charges()).toHaveLength(8);
      expect(await suspicionsOf()).toEqual(Array.from({ length: 8 }, () => ["counted", ["address-changed"]]));
    });

    test("passes with two taps if the browser refuses cookies, and the click is suspicious", async () => {
      await open();
      for (let user = 0; user < 8; user++) {
        expect(await follow(await fixture.issue(`53${user}`), { refusesCookies: true })).toEqual({
          taps: 2,
          status: 303,
        });
      }
      expect(await fixture.events()).toHaveLength(8);
      expect(await suspicionsOf()).toEqual(Array.from({ length: 8 }, () => ["counted", ["tap-unconfirmed"]]));
    });

    test.each([
      ["hold", "held"],
      ["refuse", "refused"],
    ] as const)("leaves the page and is not paid if the bot's setting is %s", async (suspiciousClicks, state) => {
      await open({ suspiciousClicks });
      const code = await fixture.issue();
      expect(await follow(code, { refusesCookies: true })).toEqual({ taps: 2, status: 303 });
      expect([await fixture.events(), await suspicionsOf()]).toEqual([[], [[state, ["tap-unconfirmed"]]]]);
    });

    test("needs no third tap if the first page had expired", async () => {
      await open();
      const page = await fixture.visit(await fixture.issue(), { address: nextAddress(), headers: doubtful });
      fixture.advance(601);
      const again = await fixture.tap(page, { address: nextAddress(), refusesCookies: true });
      expect([again.status, await fixture.events()]).toEqual([200, []]);
      expect((await fixture.tap(again, { address: nextAddress(), refusesCookies: true })).status).toBe(303);
    });

    test("is told why the page is there again", async () => {
      await open();
      const page = await fixture.visit(await fixture.issue(), { address: nextAddress(), headers: doubtful });
      expect(page.body).toContain("One tap to go");
      const again = await fixture.tap(page, { address: nextAddress(), refusesCookies: true });
      expect(again.body).toContain("One more tap");
    });
  });

  test("without cookies, an unchanged address needs one tap and is not suspicious", async () => {
    await open();
    const address = newAddress();
    const code = await fixture.issue();
    fixture.advance(5);
    const page = await fixture.visit(code, { address, headers: doubtful });
    expect((await fixture.tap(page, { address, refusesCookies: true })).status).toBe(303);
    expect((await listClicks(store.database, { botId: fixture.botId, limit: 10 })).rows).toEqual([]);
  });

  test("a phone without cookies that changes its network once gets the page once more, and is not suspicious", async () => {
    await open();
    const code = await fixture.issue();
    fixture.advance(5);
    const page = await fixture.visit(code, { address: "198.51.100.1", headers: doubtful });
    const again = await fixture.tap(page, { address: "2001:db8:5:5::1", refusesCookies: true });
    expect(again.status).toBe(200);
    // Another address of the same household, on another node.
    expect((await fixture.tap(again, { address: "2001:db8:5:5::2", refusesCookies: true }, 1)).status).toBe(303);
    expect((await listClicks(store.database, { botId: fixture.botId, limit: 10 })).rows).toEqual([]);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("two tabs of one link pass with either form", async () => {
    await open();
    const code = await fixture.issue();
    const first = await fixture.visit(code, { address: newAddress(), headers: doubtful });
    const cookie = first.headers["set-cookie"]?.[0]?.split(";")[0];
    const second = await fixture.visit(code, { address: newAddress(), headers: { ...doubtful, cookie } });
    expect((await fixture.tap(first, { address: newAddress(), headers: { cookie: cookieOf(second) } })).status).toBe(
      303,
    );
  });

  test("the cookie is for this link alone, for minutes, and not for scripts or other sites", async () => {
    await open({ directLinkUrl: "https://go.example.com/l" });
    const code = await fixture.issue();
    const proxied = { ...doubtful, host: "go.example.com" };
    const [cookie, ...others] = (await fixture.visit(code, { headers: proxied })).headers["set-cookie"] ?? [];
    expect(others).toEqual([]);
    expect(cookie).toMatch(
      new RegExp(`^tap=[\\w-]{22}; Path=/l/${code}; Max-Age=600; HttpOnly; SameSite=Lax; Secure$`),
    );
    // Over plain HTTP, as on a developer's machine, browsers would not store a secure cookie.
    expect(cookieLineOf(await fixture.visit(code, { headers: doubtful }))).not.toContain("Secure");
    const forwarded = { ...doubtful, "x-forwarded-proto": "https" };
    expect(cookieLineOf(await fixture.visit(code, { headers: forwarded }))).toContain("Secure");
    // A visitor who needs no tap gets no page and no cookie.
    expect((await fixture.visit(code)).headers["set-cookie"]).toBeUndefined();
  });

  describe("a form's token counts nothing", () => {
    const from = { address: "198.51.100.1" };
    const openPage = async () => {
      await open();
      const page = await fixture.visit(await fixture.issue("501"), { ...from, headers: doubtful });
      return { page, cookie: cookieOf(page) };
    };
    const expectTapPage = async (answer: VisitAnswer) => {
      expect([answer.status, answer.body.includes("<form")]).toEqual([200, true]);
      expect(await fixture.events()).toEqual([]);
    };

    test("for another code, with or without the cookie", async () => {
      const { page } = await openPage();
      const other = await fixture.issue("502");
      const forged = { ...page, body: page.body.replaceAll(/action="[^"]*"/g, `action="/${other}"`) };
      for (const refusesCookies of [true, false])
        await expectTapPage(await fixture.tap(forged, { ...from, refusesCookies }));
    });

    test("at another address without the cookie, however often it is posted", async () => {
      const { page } = await openPage();
      for (let post = 0; post < 3; post++) {
        await expectTapPage(await fixture.tap(page, { address: newAddress(), refusesCookies: true }));
        await expectTapPage(
          await fixture.tap(page, { address: newAddress(), headers: { cookie: `tap=${"A".repeat(22)}` } }),
        );
      }
      expect((await fixture.tap(page, from)).status).toBe(303);
    });

    test("from another site, also on its second page", async () => {
      const { page, cookie } = await openPage();
      const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example", cookie };
      await expectTapPage(await fixture.tap(page, { ...from, headers: foreign }));
      const again = await fixture.tap(page, { address: newAddress(), refusesCookies: true });
      await expectTapPage(again);
      await expectTapPage(await fixture.tap(again, { ...from, headers: foreign }));
    });

    test("once it has expired, and after its code has earned", async () => {
      const { page } = await openPage();
      fixture.advance(601);
      await expectTapPage(await fixture.tap(page, from));
      const again = await fixture.tap(page, from);
      for (const status of [303, 303, 303]) expect((await fixture.tap(again, from)).status).toBe(status);
      expect(await fixture.charges()).toHaveLength(1);
    });
  });

  test("a script with another address at each request is bounded by one payment a code", async () => {
    await open();
    const code = await fixture.issue();
    const tapPage = await fixture.visit(code, { address: newAddress(), headers: doubtful });
    const again = await fixture.tap(tapPage, { address: newAddress(), refusesCookies: true });
    const taps = Array.from({ length: 12 }, (_, index) =>
      fixture.tap(again, { address: newAddress(), refusesCookies: true }, index % 2),
    );
    expect(new Set((await Promise.all(taps)).map(({ status }) => status))).toEqual(new Set([303]));
    expect(await fixture.charges()).toHaveLength(1);
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

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { migrations } from "../migrations.ts";
import { listClicks } from "../reviews/list-clicks.ts";
import { directLinkRoutes } from "./routes.ts";

/** A bot with the default treatment of suspicious clicks. */
describe("click farms and crowds, by default", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;
  let userId = 0;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  const open = async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
  };
  const issueMany = async (count: number) => {
    const codes = await Promise.all(Array.from({ length: count }, () => fixture.issue(String(++userId))));
    fixture.advance(5);
    return codes;
  };
  /** Acts like a script that reads our page, or like a person. */
  async function follow(code: string, { address = newAddress(), agent = personAgents[0], node = 0 } = {}) {
    const headers = { "user-agent": agent };
    const answer = await fixture.visit(code, { address, headers }, node);
    const end = answer.status === 200 ? await fixture.tap(answer, { address, headers }, node) : answer;
    expect([302, 303]).toContain(end.status);
  }
  const held = async () =>
    (await listClicks(store.database, { botId: fixture.botId, state: "held", limit: 1000 })).rows;
  const paid = async () => (await fixture.charges()).length;
  /** Counted clicks on the day before. */
  const usually = (clicks: number) =>
    store.database.run(
      {
        name: "",
        text: `insert into stats_bot_sums (bot_id, span, starts_at, clicks) values ($1, 'day', '2026-02-28T00:00:00Z', $2)`,
      },
      [fixture.botId, clicks],
    );

  test("of sixty made-up users of one agent at one address ten are charged; the others are held, on two nodes, too", async () => {
    await open();
    const address = newAddress();
    const codes = await issueMany(60);
    await Promise.all(codes.map((code, index) => follow(code, { address, node: index % 2 })));
    expect([await paid(), (await fixture.events()).length]).toEqual([10, 10]);
    const waiting = await held();
    expect(waiting).toHaveLength(50);
    expect(waiting.every(({ suspicions }) => suspicions.includes("many-users-of-one-address"))).toBe(true);
  });

  test("a farm with an agent for each user, or that waits, is bounded by its network", { tags: "long" }, async () => {
    await open();
    const address = newAddress();
    for (const code of await issueMany(64)) {
      await follow(code, { address, agent: `${personAgents[0]} Build/${userId++}` });
      fixture.advance(7);
    }
    expect(await paid()).toBe(60);
  });

  test.each([
    ["IPv4 /24", (host: number) => `100.65.9.${host}`],
    ["IPv6 /56", (host: number) => `2001:db8:65:${(0x4200 + host).toString(16)}::1`],
  ])(
    "sixty made-up users at as many addresses of one network (%s) are charged thirty times in a minute",
    async (_what, addressOf) => {
      await open();
      const codes = await issueMany(60);
      for (const [host, code] of codes.entries()) await follow(code, { address: addressOf(host + 1), node: host % 2 });
      expect([await paid(), (await held()).length]).toEqual([30, 30]);
    },
  );

  test("text that is no address is one address, whatever it is", async () => {
    await open();
    const garbage = ["unknown", "", "_x", "x".repeat(4000), "1.2.3", "[::1", "0177.0.0.1", "fe80::1%a$", "1.2.3.4:x"];
    for (const [index, code] of (await issueMany(24)).entries())
      await follow(code, { address: garbage[index % garbage.length] ?? "" });
    expect(await paid()).toBe(10);
  });

  test("many people behind a carrier's address and network are paid if the bot usually has many", async () => {
    await open();
    await usually(4000);
    const address = newAddress();
    for (const code of await issueMany(20)) {
      await follow(code, { address });
      fixture.advance(3);
    }
    for (const [host, code] of (await issueMany(70)).entries()) await follow(code, { address: `100.67.9.${host}` });
    expect([await paid(), await held()]).toEqual([90, []]);
  });

  test("a bot whose few users share one address is paid for all of them, every day", async () => {
    await open();
    const address = newAddress();
    for (let day = 0; day < 3; day++) {
      for (let user = 0; user < 9; user++) await follow(await fixture.issue(`77${user}`, `${day}`), { address });
      fixture.advance(86_400);
    }
    expect([await paid(), await held()]).toEqual([27, []]);
  });

  test("a user's later clicks of a day add no user to the network", async () => {
    await open();
    for (let click = 0; click < 66; click++) {
      const code = await fixture.issue(`88${click % 4}`, `${click}`);
      await follow(code, { address: `100.68.9.${click % 4}` });
      fixture.advance(90);
    }
    expect([await paid(), await held()]).toEqual([66, []]);
  });
});

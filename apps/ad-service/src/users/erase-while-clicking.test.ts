import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test, vi } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { directLinkRoutes } from "../clicks/routes.ts";
import { migrations } from "../migrations.ts";
import { eraseUser } from "./erase-user.ts";

const at = (text: string) => Date.parse(text) / 1000;

async function open() {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { suspiciousClicks: "pay" });
  onTestFinished(async () => {
    await fixture.close();
    await store.dispose();
  });
  // The erasure ends codes by the database's clock: seen from here, in the past.
  fixture.advance(at("2040-01-01T12:00:00Z") - at("2026-03-01T12:00:00Z"));
  return { store, fixture };
}

test("a link of a user who is erased while the visit is under way answers as after the erasure, and earns nothing", async () => {
  const { store, fixture } = await open();
  const run = <Row>(text: string) => store.database.run<Row>({ name: "", text }, []);
  const address = newAddress();
  expect((await fixture.visit(await fixture.issue("601"), { address })).status).toBe(302);
  fixture.advance(300);
  const code = await fixture.issue("602");

  const held = await store.database.transaction(async (tx) => {
    await tx.run({ name: "", text: "select from address_days for update" }, []);
    // It has read that the viewer is new, and waits for its address.
    const visit = fixture.visit(code, { address });
    await vi.waitFor(async () => {
      const text = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(await run(text)).toHaveLength(1);
    });
    expect((await fixture.visit(code, {}, 1)).status).toBe(302);
    const { botId } = fixture;
    expect(await eraseUser(store.database, { botId, userId: "602", isMeant: true })).toMatchObject({
      outcome: "erased",
    });
    return { visit };
  });

  expect((await held.visit).status).toBe(410);
  expect((await fixture.visit(code)).status, "after the erasure").toBe(410);
  expect(await run("select event_id from events where user_id = '602'")).toEqual([]);
});

test("of visits and erasures of one user at once, on two nodes, none fails", async () => {
  const { fixture, store } = await open();
  for (let round = 0; round < 5; round++) {
    const code = await fixture.issue("603");
    const visits = Array.from({ length: 12 }, (_, n) => fixture.visit(code, {}, n % 2));
    const erasing = eraseUser(store.database, { botId: fixture.botId, userId: "603", isMeant: true });
    const statuses = (await Promise.all(visits)).map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 302, 410].includes(status))).toEqual([]);
    await erasing;
  }
});

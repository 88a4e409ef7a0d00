import { openSessionResponse, statusResponse } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openSessionFixture, type SessionFixture } from "../../test/fixtures/session-fixture.ts";
import { migrations } from "../migrations.ts";
import { sessionRoutes } from "./player-routes.ts";

const ann = "501";

describe("what the status says about another ad", () => {
  let store: TestDatabase;
  let fixture: SessionFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openSessionFixture(store.database, sessionRoutes);
  });
  afterEach(() => fixture.close());

  const watch = async () => {
    const session = await fixture.begin(ann, await fixture.issue(ann));
    await fixture.play(session, 0, 10);
    await fixture.report(session, { closed: "tap" });
    return session;
  };

  test("nothing unless it is asked; then that one is available, and no event, view or code is made", async () => {
    const session = await watch();
    const before = [await fixture.events(), await fixture.sessions()];
    expect((await fixture.status(session)).body).not.toHaveProperty("next_ad");
    const asked = statusResponse.parse((await fixture.status(session, { next_ad: true })).body);
    expect(asked.next_ad).toEqual({ available: true });
    expect([await fixture.events(), await fixture.sessions()]).toEqual(before);
  });

  test.each([
    { limit: { cooldownSeconds: 90 }, reason: "cooldown", availableAt: "2026-03-01T12:01:40.000Z" },
    { limit: { dailyCap: 1 }, reason: "daily-cap", availableAt: "2026-03-02T00:00:00.000Z" },
  ])("when the $reason ends, by the same rule as opening", async ({ limit, reason, availableAt }) => {
    await fixture.close();
    fixture = await openSessionFixture(store.database, sessionRoutes, limit);
    const session = await watch();
    const asked = statusResponse.parse((await fixture.status(session, { next_ad: true })).body);
    expect(asked.next_ad).toEqual({ available: false, reason, available_at: availableAt });
    const opened = openSessionResponse.parse((await fixture.open(ann)).body);
    expect(opened).toMatchObject({ outcome: "limit-reached", reason, available_at: availableAt });
  });
});

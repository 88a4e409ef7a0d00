import { openSessionResponse, statusResponse } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";

describe("what the status says about another ad", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
  });
  afterEach(() => fixture.close());

  const watch = async () => {
    const view = await fixture.begin(ann, await fixture.issue(ann));
    await fixture.play(view, 0, 10);
    await fixture.report(view, { closed: "tap" });
    return view;
  };

  test("nothing unless it is asked; then that one is available, and no event, view or code is made", async () => {
    const view = await watch();
    const before = [await fixture.events(), await fixture.storedViews()];
    expect((await fixture.status(view)).body).not.toHaveProperty("next_ad");
    const status = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
    expect(status.next_ad).toEqual({ available: true });
    expect([await fixture.events(), await fixture.storedViews()]).toEqual(before);
  });

  test.each([
    { limit: { cooldownSeconds: 90 }, reason: "cooldown", availableAt: "2026-03-01T12:01:40.000Z" },
    { limit: { dailyCap: 1 }, reason: "daily-cap", availableAt: "2026-03-02T00:00:00.000Z" },
  ])("when the $reason ends, by the same rule as opening", async ({ limit, reason, availableAt }) => {
    await fixture.close();
    fixture = await openViewFixture(store.database, viewPlayerRoutes, limit);
    const view = await watch();
    const status = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
    expect(status.next_ad).toEqual({ available: false, reason, available_at: availableAt });
    const opened = openSessionResponse.parse((await fixture.open(ann)).body);
    expect(opened).toMatchObject({ outcome: "limit-reached", reason, available_at: availableAt });
  });
});

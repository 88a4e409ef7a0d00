import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { listEvents } from "../src/events/list-events.ts";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { withInterstitials } from "./fixtures/interstitial-fixture.ts";
import { type Opened, openViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

let store: TestDatabase;
let fixture: Awaited<ReturnType<typeof withInterstitials>>;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  return () => store.dispose();
});
beforeEach(async () => {
  fixture = await withInterstitials(await openViewFixture(store.database, viewPlayerRoutes));
  return () => fixture.close();
});

const openWith = async (note: unknown, format = "rewarded") => {
  const { body } = await fixture.grant();
  const request = { bot_id: fixture.botId, format, app_grant: body.app_grant, client_note: note };
  return fixture.post("/sessions", request);
};
const watch = async (view: Opened) => {
  await fixture.report(view, { started: true });
  fixture.advance(10);
  await fixture.report(view, { reports: wholeVideo(view.first_sequence), closed: "tap" });
};
const notes = async () => (await fixture.events()).map(({ body }) => JSON.parse(body).client_note);
const listed = async () => {
  const page = await listEvents(store.database, { botId: fixture.botId, limit: 10, hasInterstitials: true });
  return page.outcome === "page" ? page.events.map(({ client_note: note }) => note) : page.outcome;
};

test("what the page says of an ad is in its event, in the bytes that are signed and in the list, where the bot asks for it", async () => {
  await watch((await openWith("level 7 · 🎁")).body as unknown as Opened);
  await fixture.setBot("sends_client_notes = true, sends_interstitials = true");
  await watch((await openWith("level 8")).body as unknown as Opened);
  await watch((await openWith("between 8 and 9", "interstitial")).body as unknown as Opened);
  await watch((await openWith(undefined)).body as unknown as Opened);
  expect(await notes()).toEqual([undefined, "level 8", "between 8 and 9", undefined]);
  // Only settled events are listed.
  await expect.poll(listed).toEqual([undefined, "level 8", "between 8 and 9", undefined]);
});

test("a view that is opened again has the page's last word", async () => {
  await fixture.setBot("sends_client_notes = true");
  const first = (await openWith("first")).body as unknown as Opened;
  await fixture.play(first, 0, 2);
  const again = (await openWith("second")).body as unknown as Opened;
  expect(again.session_id).toBe(first.session_id);
  fixture.advance(10);
  await fixture.report(again, { started: true });
  await watch(again);
  expect(await notes()).toEqual(["second"]);
});

test.each([["x".repeat(129)], ["two\nlines"], ["\u0000"], ["\ud800"], [7], [{}]])(
  "the note %j opens nothing",
  async (note) => {
    expect(await openWith(note)).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: "client_note" }] } },
    });
    expect(await fixture.storedViews()).toEqual([]);
  },
);

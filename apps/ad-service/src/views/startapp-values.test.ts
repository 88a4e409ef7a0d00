import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import { untilFeedsAreCurrent } from "@intermission/testing/settled-feed";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { describeCode } from "../codes/describe-code.ts";
import { listEvents } from "../events/list-events.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";
const bob = "502";

/** Values of publishers. None is a code of the fixture's bot. */
const publisherValues = [
  "bbId38341612",
  "ref_7000000123",
  "utm_source-abc",
  Buffer.from('{"campaign":"spring","ref":7000000123}').toString("base64url"),
  // Eighteen letters of a code's alphabet, of no bot.
  "4YabcdefghABCDEFGH",
  "0",
  "x".repeat(512),
];

describe("a startapp value of the publisher", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  function onFixture(work: (fixture: ViewFixture) => Promise<void>) {
    return async () => {
      const fixture = await openViewFixture(store.database, viewPlayerRoutes);
      try {
        await work(fixture);
      } finally {
        await fixture.close();
      }
    };
  }

  const launch = (fixture: ViewFixture, userId: string, startParam: string | undefined, more: object = {}) => {
    const initData = fixture.initData(userId, startParam === undefined ? {} : { startParam });
    return fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData, ...more });
  };

  async function earn(fixture: ViewFixture, view: Opened, from = 0): Promise<void> {
    await fixture.play(view, from, 10);
    expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  }

  /** What the publisher learns of the user's only view: from the code, the webhook and the feed. */
  async function passedOn(fixture: ViewFixture, code: string) {
    const { botId } = fixture;
    const described = await describeCode(fixture.database, { botId, code, now: fixture.clock.now });
    const event = (await fixture.events()).find((event) => event.code === code);
    const parsed = parseWebhookEvent(Buffer.from(event?.body ?? ""));
    await untilFeedsAreCurrent(fixture.database);
    const page = await listEvents(fixture.database, { botId, limit: 100 });
    const listed = page.outcome === "page" ? page.events.find((event) => event.code === code) : undefined;
    return {
      code: described.outcome === "found" ? described.code.startParam : "unknown code",
      webhook: parsed.outcome === "valid" ? parsed.event.start_param : parsed.message,
      feed: listed?.start_param,
    };
  }

  test.each(publisherValues)(
    "%s opens an ad, and reaches the publisher with the code, the webhook and the feed",
    async (value) => {
      await onFixture(async (fixture) => {
        const { status, body } = await launch(fixture, ann, value);
        expect({ status, ...body }).toMatchObject({ status: 200, outcome: "session" });
        await earn(fixture, body as unknown as Opened);
        expect(await passedOn(fixture, String(body.code))).toEqual({ code: value, webhook: value, feed: value });
      })();
    },
  );

  test(
    "a client that repeats the value as the code is not locked out",
    onFixture(async (fixture) => {
      for (const value of publisherValues) {
        const answer = await launch(fixture, ann, value, { code: value });
        expect(answer, value).toMatchObject({ status: 200, body: { outcome: "session" } });
      }
    }),
  );

  test(
    "a value that Telegram does not allow opens an ad, and is not passed on",
    onFixture(async (fixture) => {
      for (const value of ["x".repeat(513), "a b", "<script>", "é", "\u0000", "a\u2028b", " "]) {
        const { status, body } = await launch(fixture, ann, value);
        expect(status, JSON.stringify(value)).toBe(200);
        const described = await describeCode(fixture.database, {
          botId: fixture.botId,
          code: String(body.code),
          now: fixture.clock.now,
        });
        expect(described).toMatchObject({ outcome: "found", code: { startParam: null } });
      }
    }),
  );

  test(
    "a value that is only in the address opens an ad, and is not passed on: anyone can write it there",
    onFixture(async (fixture) => {
      for (const value of ["ref_1", "x".repeat(600), 7, null]) {
        const { status, body } = await launch(fixture, ann, undefined, { start_param: value });
        expect(status, String(value)).toBe(200);
        await earn(fixture, body as unknown as Opened);
        const nothing = { code: null, webhook: undefined, feed: undefined };
        expect(await passedOn(fixture, String(body.code))).toEqual(nothing);
      }
    }),
  );

  test(
    "a code of the bot in startapp is opened, signed or only in the address, and is not passed on as a value",
    onFixture(async (fixture) => {
      const signed = await fixture.issue(ann, "order 1");
      const { body } = await launch(fixture, ann, signed);
      expect(body).toMatchObject({ outcome: "session", code: signed });
      await earn(fixture, body as unknown as Opened);
      expect(await passedOn(fixture, signed)).toEqual({ code: null, webhook: undefined, feed: undefined });
      const unsigned = await fixture.issue(ann, "order 2");
      expect((await launch(fixture, ann, undefined, { start_param: unsigned })).body).toMatchObject({ code: unsigned });
    }),
  );

  test(
    "a shared link with another user's code, another bot's or an unknown one opens an ad of one's own",
    onFixture(async (fixture) => {
      const other = await openViewFixture(store.database, viewPlayerRoutes);
      const [ofBob, ofOtherBot] = [await fixture.issue(bob), await other.issue(ann)];
      await other.close();
      const unknown = `${ofBob.slice(0, 6)}${"2".repeat(12)}`;
      for (const value of [ofBob, ofOtherBot, unknown]) {
        const { status, body } = await launch(fixture, ann, value);
        expect({ status, ...body }).toMatchObject({ status: 200, outcome: "session" });
        expect(body.code).not.toBe(value);
      }
      // Another user's code says who shared the link, and is not the publisher's value.
      const { body } = await launch(fixture, ann, ofBob);
      expect(await passedOn(fixture, String(body.code))).toMatchObject({ code: unknown });
      // Bob's code still is Bob's, and a button with it in its address stays Bob's alone.
      expect((await launch(fixture, ann, undefined, { code: ofBob })).status).toBe(403);
      expect((await launch(fixture, bob, ofBob)).body).toMatchObject({ code: ofBob });
    }),
  );

  test(
    "an own code that has expired, or earned, says so in startapp as in the address",
    onFixture(async (fixture) => {
      const used = await fixture.issue(ann, "used");
      await earn(fixture, (await launch(fixture, ann, used)).body as unknown as Opened);
      expect((await launch(fixture, ann, used)).body).toMatchObject({ code: used, state: "rewarded" });
      const expired = await fixture.issue(ann, "expired");
      fixture.advance(3601);
      expect(await launch(fixture, ann, expired)).toMatchObject({
        status: 410,
        body: { error: { code: "CODE_EXPIRED" } },
      });
    }),
  );

  test(
    "a view carries the value of the latest launch that had one, until it was watched",
    onFixture(async (fixture) => {
      const opened = (await launch(fixture, ann, "first")).body as unknown as Opened & { code: string };
      await fixture.play(opened, 0, 3);
      for (const value of ["second", undefined]) {
        expect((await launch(fixture, ann, value)).body).toMatchObject({ code: opened.code, resume_at_ms: 3000 });
      }
      const again = (await launch(fixture, ann, undefined)).body as unknown as Opened;
      await fixture.play(again, 3, 10);
      // Reopening closes a watched view. It was watched before this launch.
      expect((await launch(fixture, ann, "third")).body).toMatchObject({ code: opened.code, state: "rewarded" });
      expect(await passedOn(fixture, opened.code)).toEqual({ code: "second", webhook: "second", feed: "second" });
    }),
  );

  test(
    "another ad of the same launch carries its value, too",
    onFixture(async (fixture) => {
      const first = (await launch(fixture, ann, "ref_1")).body as unknown as Opened;
      await earn(fixture, first);
      const { body } = await launch(fixture, ann, "ref_1", { another: true });
      await earn(fixture, body as unknown as Opened);
      expect(await passedOn(fixture, String(body.code))).toMatchObject({ webhook: "ref_1" });
    }),
  );

  test(
    "a code in the address is found with what people and messengers add to it",
    onFixture(async (fixture) => {
      const code = await fixture.issue(ann);
      for (const text of [`${code}.`, `(${code})`, `${code}\u200b`, ` ${code}/?fbclid=1`]) {
        expect((await launch(fixture, ann, undefined, { code: text })).body, text).toMatchObject({ code });
      }
    }),
  );

  test(
    "a damaged code in the address is refused as before, whatever the startapp value",
    onFixture(async (fixture) => {
      const long = "x".repeat(5000);
      const damaged = { status: 400, body: { error: { code: "CODE_MALFORMED" } } };
      expect(await launch(fixture, ann, "ref_1", { code: "ref_2" })).toMatchObject(damaged);
      expect(await launch(fixture, ann, undefined, { code: "ref_1" })).toMatchObject(damaged);
      expect(await launch(fixture, ann, undefined, { code: long })).toMatchObject(damaged);
    }),
  );
});

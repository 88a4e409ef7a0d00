import type { ProgressReport, ReportRequest } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { sweepViews } from "./sweep-views.ts";

/** A call as an honest player sends it: what was played until then. The fixture's video lasts 10 s. */
interface SentCall {
  name: string;
  /** Since the tap. */
  sentAt: number;
  body: Partial<ReportRequest>;
}

/** Ranges a little longer than a second, so that they do not look even. */
const played: ProgressReport[] = Array.from({ length: 10 }, (_, second) => ({
  sequence: second,
  from_ms: second === 0 ? 0 : second * 1000 + 3,
  to_ms: second === 9 ? 10_000 : second * 1000 + 1003,
  visible: true,
  muted: false,
  rendered_frames: 25,
}));

// No answer arrives, so that each call carries the start and everything played.
const call = (name: string, sentAt: number, body: Partial<ReportRequest> = {}): SentCall => ({
  name,
  sentAt,
  body: {
    started: true,
    playing: sentAt < 10,
    reports: played.filter(({ to_ms: to }) => to <= sentAt * 1000),
    ...body,
  },
});

const start = call("start", 0);
const ranges = call("ranges", 5);
const end = call("end", 10);
const tap = call("tap", 10.4, { closed: "tap" });
const beacon = call("beacon", 10.4, { closed: "page-hidden" });
/** The page was hidden for a moment, and played on. */
const away = call("away", 4, { closed: "page-hidden", playing: false });

/** Each order of each choice of the calls; the others never arrive. */
function ordersOf(calls: readonly SentCall[]): SentCall[][] {
  const orders = calls.flatMap((first) => {
    const others = ordersOf(calls.filter((other) => other !== first));
    return [[first], ...others.map((rest) => [first, ...rest])];
  });
  return orders.filter((order) => order.length > 0);
}

/** All of the video arrived with one of them. */
const isHeard = (order: readonly SentCall[]) => order.some(({ sentAt }) => sentAt >= 10);

let store: TestDatabase;
let fixture: ViewerFixture;
let users = 1000;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());
beforeEach(async () => {
  fixture = await openViewerFixture(store.database);
});
afterEach(() => fixture.close());

/** Lets the calls arrive in this order, each as soon as it is sent and the call before it has arrived. */
async function watch(order: readonly SentCall[], offerSeconds: number): Promise<void> {
  const user = String(++users);
  const name = `${order.map((one) => one.name).join(", ")} after ${offerSeconds} s`;
  const code = await fixture.issue(user);
  const view = await fixture.begin(user, code);
  fixture.advance(offerSeconds);
  const tappedAt = fixture.clock.now.getTime();
  const arrive = async ({ sentAt, body }: SentCall) => {
    fixture.clock.now = new Date(Math.max(fixture.clock.now.getTime(), tappedAt + sentAt * 1000));
    return fixture.report(view, body);
  };
  for (const one of order) {
    const { status, body } = await arrive(one);
    expect({ name, status, refused: body.refused, early: body.too_early }).toEqual({ name, status: 200, refused: [] });
  }
  // The player repeats its latest call until it is answered, as it was when its answer was lost.
  const latest = order.toSorted((a, b) => a.sentAt - b.sentAt).at(-1);
  if (latest) await arrive(latest);
  fixture.advance(16);
  await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
  const { earned, sessions } = await fixture.describe(code);
  const state = sessions.map((one) => one.state);
  expect({ name, state, earned: earned.map(({ event }) => event) }).toEqual({
    name,
    state: ["rewarded"],
    earned: ["rewarded"],
  });
}

test.each([
  { name: "one call of everything", order: [tap] },
  { name: "one beacon of everything", order: [beacon] },
  { name: "a start that arrives with the close", order: [start, tap] },
  { name: "the close first, the start last", order: [tap, end, ranges, start] },
  { name: "the beacon of a hidden page that comes back after the ranges of later", order: [start, ranges, away, end] },
  { name: "the same, and only the closing tap arrives after it", order: [start, ranges, away, tap] },
  { name: "the same, and only a second beacon arrives after it", order: [away, beacon] },
])("an honest view counts when its calls arrive as $name", async ({ order }) => {
  await watch(order, 0);
});

test.each([
  { name: "closed by a tap", calls: [start, ranges, end, tap] },
  { name: "closed by leaving the page", calls: [start, ranges, end, beacon] },
  { name: "hidden for a moment, and closed by a tap", calls: [start, away, end, tap] },
  { name: "hidden for a moment, and left", calls: [away, ranges, end, beacon] },
])("an honest view counts in every order of every choice of its calls: $name", { tags: "long" }, async ({ calls }) => {
  for (const order of ordersOf(calls).filter(isHeard)) {
    for (const offerSeconds of [0, 4]) await watch(order, offerSeconds);
  }
});

import { expect, test } from "vitest";
import type { News } from "../telegram/host-news.ts";
import { resultAfter, type ShowResult } from "./show-result.ts";

const after = (...news: News[]): ShowResult => news.reduce(resultAfter, { outcome: "unavailable" });
const stage = (name: Extract<News, { phase: "stage" }>["stage"], positionMs = 0): News => ({
  phase: "stage",
  stage: name,
  positionMs,
});
const reward = (kind: Extract<News, { phase: "reward" }>["reward"], eventId?: string): News => ({
  phase: "reward",
  reward: kind,
  eventId,
});

test("an ad that is left before its end is closed early, with the seconds that were watched", () => {
  expect(after(stage("playing"), stage("left", 4900))).toEqual({ outcome: "closed-early", secondsWatched: 4 });
});

test("only the publisher's own word makes a result credited, and nothing takes it back", () => {
  const watched = [stage("playing"), stage("watched", 10_000), stage("closed", 10_000)];
  for (const kind of ["checking", "on-its-way", "delayed", "delivered", "held", "undelivered", "not-counted"] as const)
    expect(after(...watched, reward(kind, "evt_1"))).toMatchObject({ outcome: "watched", eventId: "evt_1" });
  const credited = { outcome: "credited", eventId: "evt_1", secondsWatched: 10 };
  expect(after(...watched, reward("credited", "evt_1"))).toEqual(credited);
  expect(after(...watched, reward("credited", "evt_1"), stage("playing"), stage("left"))).toEqual(credited);
  // The publisher's word may come first, and the event's id after it.
  expect(after(...watched, reward("credited"), reward("credited", "evt_1"))).toEqual(credited);
});

test("a refused reward, a limit and a missing ad say why and when", () => {
  const untilMs = Date.parse("2026-03-01T12:00:00Z");
  expect(after(stage("watched"), reward("view-refused"))).toMatchObject({ outcome: "refused", reason: "view-refused" });
  expect(after({ phase: "wait", reason: "cooldown", untilMs })).toEqual({
    outcome: "limited",
    reason: "cooldown",
    availableAt: "2026-03-01T12:00:00.000Z",
  });
  expect(after({ phase: "wait", reason: "no-ad", untilMs })).toMatchObject({ outcome: "no-ad" });
  expect(after({ phase: "refused", code: "CODE_USED" })).toEqual({
    outcome: "refused",
    reason: "CODE_USED",
  });
});

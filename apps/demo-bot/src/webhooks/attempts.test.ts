import { createAds } from "@intermission/publisher";
import { fakeAdService } from "@intermission/publisher/testing";
import { expect, test } from "vitest";
import { readAttempts } from "./attempts.ts";

test("each failed attempt shows what to check, as the bot's own token reads it; a delivered event asks nothing", async () => {
  const answers = [new Response("", { status: 404 }), new Response("", { status: 500 }), new Response()];
  const fake = fakeAdService({ webhook: async () => answers.shift() ?? new Response() });
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  const earned = await fake.earn((await ads.createCode({ userId: "42" })).code);
  if (earned.outcome !== "earned") throw new Error(earned.outcome);
  const { eventId } = earned;
  await fake.sendWaiting();
  await fake.sendWaiting();

  const statuses = [404, 500, 200];
  const attemptOf = (status: number, index: number) => ({
    attempt: index + 1,
    startedAt: "2026-03-01T12:00:00Z",
    url: "http://bot.test/",
    status,
    errorClass: null,
    totalMs: 1,
    responseText: "",
    nextAt: null,
    isReplay: false,
  });
  const delivery = { eventId, createdAt: "2026-03-01T12:00:00Z", state: "delivered", body: "{}" };
  const operator = { delivery: async () => ({ ...delivery, log: statuses.map(attemptOf) }) };
  const [read] = await readAttempts({ operator, ads, receiver: undefined }, [eventId]);
  expect(read?.attempts.map(({ advice }) => advice)).toEqual([
    "Nothing is served at this path: compare the webhook address with your route.",
    "The receiver failed: look at its log.",
    null,
  ]);

  const delivered = { delivery: async () => ({ ...delivery, log: [attemptOf(200, 0)] }) };
  const withoutAdvice = { attempts: () => Promise.reject(new Error("asked for advice")) };
  const [quiet] = await readAttempts({ operator: delivered, ads: withoutAdvice, receiver: undefined }, [eventId]);
  expect(quiet?.attempts.map(({ advice }) => advice)).toEqual([null]);
});

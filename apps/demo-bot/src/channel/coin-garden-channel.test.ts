import { createAds } from "@intermission/publisher";
import { fakeAdService } from "@intermission/publisher/testing";
import { beforeEach, expect, test } from "vitest";
import type { RecordedEntry } from "../scenario/rewards-port.ts";
import { SimulatedChat } from "../simulated-chat/simulated-chat.ts";
import { CoinGardenChannel } from "./coin-garden-channel.ts";

const now = () => new Date("2026-01-02T03:04:05Z");
const ann = "501";

let fake: ReturnType<typeof fakeAdService>;
let chat: SimulatedChat;
let garden: CoinGardenChannel;
beforeEach(() => {
  fake = fakeAdService();
  chat = new SimulatedChat(now);
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch, retries: 0 });
  garden = new CoinGardenChannel({ chat, ads, now, onCode: () => {} });
});

const entry: RecordedEntry = {
  entryId: "1",
  userId: ann,
  event: "rewarded",
  code: "c",
  amount: 0,
  reason: "no-reward",
  balance: null,
  reference: "join:-1001000000001",
};
const lastText = () => chat.history(ann).at(-1)?.text;

test("a request opens the mini-app, and the entry of its view lets the user in, once", async () => {
  await garden.askToJoin(ann);
  const [opened] = chat.history(ann);
  expect(opened?.opens).toEqual({ miniappUrl: expect.stringContaining("?code="), joinQueryId: "join1" });
  await garden.approve({ ...entry, reference: null });
  expect(garden.channel.stateOf(ann)).toBe("shown");
  await garden.approve(entry);
  await garden.approve(entry);
  expect(garden.channel.stateOf(ann)).toBe("member");
  expect(chat.history(ann).filter(({ text }) => text.startsWith("✅"))).toHaveLength(1);
  await garden.askToJoin(ann);
  expect(lastText()).toBe("✅ You are in “Secret Garden”.");
});

test.each([
  ["there is no ad", () => fake.setAvailability({ available: false, reason: "no-ad" })],
  ["the ad service is away", () => fake.refuseNext({ status: 503, code: "UNAVAILABLE" })],
])("if %s, the administrators decide", async (_why, arrange) => {
  arrange();
  await garden.askToJoin(ann);
  expect(garden.channel.stateOf(ann)).toBe("queued");
  expect(lastText()).toBe("The administrators of “Secret Garden” decide about your request.");
});

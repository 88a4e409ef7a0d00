import userIds from "@intermission/testing/user-ids.json" with { type: "json" };
import { expect, test, vi } from "vitest";
import { createAds } from "./create-ads.ts";
import { createCompanion } from "./create-companion.ts";
import { senderOf } from "./grammy.ts";
import { personIdOf } from "./read-user-id.ts";
import { fakeAdService } from "./testing/fake-ad-service.ts";

const ann = { id: 42, is_bot: false };

test.each([
  ["a person", { from: ann }, { kind: "person", userId: "42" }],
  ["a person whose id needs 52 bits", { from: { id: 4503599627370495, is_bot: false } }, { kind: "person" }],
  ["an anonymous administrator", { from: { id: 1087968824, is_bot: true }, sender_chat: {} }, { kind: "chat" }],
  ["the same without its chat", { from: { id: 1087968824, is_bot: true } }, { kind: "chat" }],
  ["somebody who writes as a channel", { from: { id: 136817688, is_bot: true }, sender_chat: {} }, { kind: "chat" }],
  ["a channel's post in its discussion group", { from: { id: 777000, is_bot: false } }, { kind: "chat" }],
  ["a person's message in the name of a chat", { from: ann, sender_chat: {} }, { kind: "chat" }],
  ["another bot", { from: { id: 43, is_bot: true } }, { kind: "bot" }],
  ["a bot that answers for a business account", { from: ann, sender_business_bot: {} }, { kind: "bot" }],
  ["a post of a channel", { sender_chat: {} }, { kind: "nobody" }],
])("%s is told apart", (_who, facts, sender) => {
  expect(senderOf(facts)).toMatchObject(sender);
});

test("ids may be bigints, as databases return them", async () => {
  const fake = fakeAdService({ botId: "7000000001" });
  const ads = createAds({ url: fake.url, token: fake.token, botId: 7000000001n, fetch: fake.fetch });
  const { code } = await ads.createCode({ userId: 4503599627370495n });
  expect(await ads.code(code)).toMatchObject({ user_tg_id: "4503599627370495" });
});

test.each([
  [{ id: 42 }, "userId is of the type object: pass the user's Telegram id, such as ctx.from.id"],
  [[42], "userId is an array: pass"],
  [true, "userId is of the type boolean: pass"],
  [1.5, 'userId "1.5" is not a Telegram id'],
])("%j is no user id: the client says what it is, and not that it is missing", async (userId, message) => {
  const ads = createAds({ url: "http://ads.test", token: "ad_test", botId: 7000000001 });
  const refusal = { code: "BAD_REQUEST", message: expect.stringContaining(message) };
  await expect(ads.createCode({ userId: userId as never })).rejects.toMatchObject(refusal);
});

test.each([...userIds.many_people, ...userIds.chats])(
  "no code is requested for %s: the client says whose id that is, and what to do",
  async (userId) => {
    const fake = fakeAdService();
    const send = vi.fn(fake.fetch);
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: send });
    const companion = createCompanion({ url: "http://api.test", apiKey: "key", fetch: send });
    const refusal = { code: "NOT_A_PERSON", message: expect.stringContaining(`user ${userId} is `) };
    await expect(ads.createCode({ userId })).rejects.toMatchObject(refusal);
    await expect(ads.availability(userId)).rejects.toMatchObject(refusal);
    await expect(companion.createCode({ userId })).rejects.toMatchObject({ ...refusal, name: "CompanionError" });
    expect(send).not.toHaveBeenCalled();
  },
);

test("people and what is no id are told apart as in every client", () => {
  expect(userIds.people.map(personIdOf)).toEqual(userIds.people);
  expect(userIds.no_ids.filter((id) => personIdOf(id) !== undefined)).toEqual([]);
});

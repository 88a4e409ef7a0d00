import { randomBytes } from "node:crypto";
import { offerCardResponse, shownCardResponse } from "@intermission/ad-core/card-api";
import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import { type Card, createAds } from "@intermission/publisher";
import { type AdsFlavor, adsMiddleware } from "@intermission/publisher/grammy";
import { Bot, type Context } from "grammy";
import type { UserFromGetMe } from "grammy/types";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Bid, openBuyer } from "../../../examples/buyer.ts";
import { advertiserAccount, publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import { openGuardedRequests } from "../src/outbound/guarded-request.ts";
import { eraseUser } from "../src/users/erase-user.ts";
import { callTrackers } from "../src/vast/trackers.ts";
import { settleUntilNow } from "./fixtures/facts-fixture.ts";
import { openTwoNodes, type TwoNodes } from "./fixtures/two-nodes-fixture.ts";

const settings = {
  isPlainHttpAllowed: true,
  allowedNetworks: { webhook: [], vast: ["127.0.0.1/32"], video: [], buyer: ["127.0.0.1/32"] },
};
const phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36";
const ann = "1001";

let nodes: TwoNodes;
let bot: { botId: string; token: string };
let stand: Awaited<ReturnType<typeof openBuyer>>;
let changeBid: (bid: Bid) => Bid = (bid) => bid;
const requests = openGuardedRequests(settings);

beforeAll(async () => {
  nodes = await openTwoNodes({ requests: settings });
  await ask("insert into deployment (currency) values ('USD')");
  await ask("insert into publisher_shares (since, percent) values ('2020-01-01', 70)");
});
afterAll(async () => {
  await requests.close();
  await nodes.close();
});
beforeEach(async () => {
  bot = await nodes.nodes[0].newBot();
  changeBid = (bid) => bid;
  stand = await openBuyer({ changeBid: (bid) => changeBid(bid) });
});
afterEach(async () => {
  stand.close();
  await turnOff();
});

const ask = <Row = Record<string, unknown>>(text: string, ...values: unknown[]) =>
  nodes.store.database.run<Row>({ name: "", text }, values);
async function turnOff() {
  await ask("update buyers set is_active = false");
  await refresh();
}
async function refresh() {
  for (const { campaigns } of nodes.nodes) await campaigns.refresh();
}
const now = () => nodes.nodes[0].clock.now;

async function buy(change: Record<string, unknown> = {}, campaign: Record<string, unknown> = {}) {
  const body = { name: `Cards ${randomBytes(4).toString("hex")}`, protocol: "richads-cards", key: "792361" };
  const added = await operate("POST", "/buyers", { ...body, url: stand.cardsUrl, tmaxMs: 800, ...change });
  const buyer = await operate("PATCH", `/buyers/${added.buyerId}`, { isActive: true });
  const set = Object.entries(campaign).map(([column, value]) => `${column} = ${value}`);
  if (set.length > 0)
    await ask(`update campaigns set ${set.join(", ")}, updated_at = now() where campaign_id = $1`, buyer.campaignId);
  await refresh();
  return buyer as Record<"buyerId" | "campaignId" | "advertiserId", string>;
}
async function operate(method: "POST" | "PATCH", path: string, body: object) {
  const { status, body: answer } = await nodes.send(nodes.nodes[0], { method, path, body } as never);
  if (status >= 300) throw new Error(JSON.stringify(answer));
  return answer;
}

function post(path: string, body?: object, node = 0) {
  return fetch(`${nodes.nodes[node % 2]?.address}/client/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${bot.token}`, ...(body && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
}
async function offer(user = ann, more: object = {}, node = 0) {
  const answer = await post("/cards", { bot_id: bot.botId, user_tg_id: user, language: "de-AT", ...more }, node);
  expect(answer.status).toBe(200);
  return offerCardResponse.parse(await answer.json());
}
async function offered(user = ann, more: object = {}) {
  const { card } = await offer(user, more);
  if (card === null) throw new Error("there is no card");
  return card;
}
const report = async (cardId: string, node = 0) =>
  shownCardResponse.parse(await (await post(`/cards/${cardId}/shown`, undefined, node)).json());
const click = (cardId: string, node = 0, agent = phone) =>
  fetch(`${nodes.nodes[node % 2]?.address}/card/${cardId}`, {
    redirect: "manual",
    headers: { "user-agent": agent, "accept-language": "en" },
  });
const log = { error: (fault: unknown) => console.error(fault) };
const callAll = () => callTrackers({ database: nodes.store.database, requests, log, now }, { atMost: 100 });
const outcomesOf = async (buyerId: string) =>
  (await ask<{ outcome: BidOutcome }>("select outcome from opening_offers where source = $1", buyerId)).map(
    ({ outcome }) => outcome,
  );
const owedBy = async ({ advertiserId }: { advertiserId: string }) => {
  await settleUntilNow(nodes.store.database);
  return -(await sumOfEntries(nodes.store.database, advertiserAccount(advertiserId)));
};
const earned = () => sumOfEntries(nodes.store.database, publisherAccount(bot.botId));

test("a card costs nothing until it was sent; then its buyer owes once, and is told once, and the publisher has its share", async () => {
  const buyer = await buy();
  const card = await offered();
  expect(card).toMatchObject({
    label: "Werbung",
    title: "Summer sale",
    text: "Everything at half price until Sunday.",
    image_url: `${stand.address}/sale.jpeg`,
    button: "Look",
    advertiser: "Shop",
    url: `http://ads.test/card/${card.card_id}`,
  });
  expect(stand.calls[0]?.request).toEqual({
    language_code: "de",
    publisher_id: "792361",
    bid_floor: 0,
    production: true,
  });
  await callAll();
  expect(stand.callsOf("/bill"), "an offer is not an impression").toEqual([]);
  expect(await owedBy(buyer)).toBe(0n);

  expect(await report(card.card_id)).toMatchObject({ counted: true });
  await report(card.card_id, 1);
  await callAll();
  expect(stand.callsOf("/bill")).toHaveLength(1);
  expect(await owedBy(buyer), "0.31 for 1,000").toBe(310n);
  expect(await earned(), "70 %").toBe(217n);
  expect(await outcomesOf(buyer.buyerId)).toEqual(["won"]);
  const days = await ask(
    "select shown, shown_micros, views, spent_micros from campaign_days where campaign_id = $1",
    buyer.campaignId,
  );
  expect(days).toEqual([{ shown: 1, shown_micros: 310, views: 1, spent_micros: 310 }]);
});

test("eight reports and eight clicks at once on two nodes are one impression; the button leads on", async () => {
  const buyer = await buy();
  const { card_id: cardId } = await offered();
  const both = Array.from({ length: 8 }, (_, n) => [report(cardId, n), click(cardId, n)] as const);
  for (const [reported, clicked] of both) {
    expect(await reported).toMatchObject({ counted: true });
    const { status, headers } = await clicked;
    expect([status, headers.get("location")]).toEqual([302, `${stand.address}/shop`]);
  }
  await Promise.all([callAll(), callAll()]);
  expect(stand.callsOf("/bill")).toHaveLength(1);
  expect(await owedBy(buyer)).toBe(310n);
});

test("whoever follows the button has seen the card; a preview has not", async () => {
  const buyer = await buy();
  const { card_id: cardId } = await offered();
  expect((await click(cardId, 0, "TelegramBot (like TwitterBot)")).status).toBe(200);
  expect(await owedBy(buyer)).toBe(0n);
  expect((await click(cardId)).status).toBe(302);
  expect(await owedBy(buyer)).toBe(310n);
  expect((await click("0".repeat(32))).status).toBe(404);
});

test("a card that was sent too late is not owed, and its button still leads on", async () => {
  const buyer = await buy();
  const { card_id: cardId } = await offered();
  for (const { clock } of nodes.nodes) clock.now = new Date(clock.now.getTime() + 16 * 60_000);
  expect(await report(cardId)).toEqual({ card_id: cardId, counted: false, reason: "expired" });
  expect((await click(cardId)).status).toBe(302);
  expect(await owedBy(buyer)).toBe(0n);
});

test("another bot's card is unknown, and a tester's is asked for as a test and free", async () => {
  const buyer = await buy();
  const { card_id: cardId } = await offered();
  const own = bot;
  bot = await nodes.nodes[1].newBot({ testers: [ann] });
  expect((await post(`/cards/${cardId}/shown`)).status).toBe(404);
  const tested = await offered();
  expect(stand.calls.at(-1)?.request).toMatchObject({ production: false });
  expect(await report(tested.card_id)).toMatchObject({ counted: false, reason: "test" });
  await callAll();
  expect(stand.callsOf("/bill")).toEqual([]);
  expect(await owedBy(buyer)).toBe(0n);
  bot = own;
});

test("the Telegram id goes only to a buyer that may have it, of users who consent", async () => {
  await buy({ sends: ["telegram-id"] });
  await offer();
  expect(stand.calls.at(-1)?.request).not.toHaveProperty("telegram_id");
  await offer(ann, { consent: { gdpr: false } });
  expect(stand.calls.at(-1)?.request).toMatchObject({ telegram_id: ann });
});

test("what cannot be sent is no card, and each answer has one named outcome", async () => {
  expect(await offer()).toEqual({ card: null, reason: "no-buyer" });
  const changes: [BidOutcome, (bid: Bid) => Bid][] = [
    ["broken-markup", (bid) => ({ ...bid, title: "", message: undefined })],
    ["broken-markup", (bid) => ({ ...bid, link: "javascript:alert(1)" })],
    ["broken-markup", (bid) => ({ ...bid, link: undefined })],
    ["no-price", (bid) => ({ ...bid, bid_price: undefined })],
    ["below-floor", (bid) => ({ ...bid, bid_price: 0.05 })],
    ["implausible-price", (bid) => ({ ...bid, bid_price: 1e9 })],
  ];
  for (const [outcome, change] of changes) {
    changeBid = change;
    const buyer = await buy({ floorMicros: 100_000 });
    expect(await offer(), outcome).toEqual({ card: null, reason: "no-card" });
    expect(await outcomesOf(buyer.buyerId)).toEqual([outcome]);
    await turnOff();
  }
  changeBid = (bid) => ({ ...bid, message: "x".repeat(5000), image: "//", image_preload: undefined, button: "" });
  await buy();
  const card = await offered();
  expect(card.text).toHaveLength(768);
  expect(card).not.toHaveProperty("image_url");
  expect(card.button).toBe("Summer sale");
});

test("a limit of the campaign, of a user and of the buyer's credit is exceeded by no card, twelve at once on two nodes", async () => {
  const limits: [Record<string, unknown>, number][] = [
    [{ daily_view_cap: 3 }, 3],
    [{ total_view_cap: 2 }, 2],
    [{ user_cap: 1, user_cap_seconds: 3600 }, 1],
    [{ daily_budget_micros: 1000 }, 3],
  ];
  for (const [limit, most] of limits) {
    await buy({}, limit);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => offer("2001", {}, n)));
    const cards = answers.flatMap(({ card }) => (card === null ? [] : [card.card_id]));
    expect(cards, JSON.stringify(limit)).toHaveLength(most);
    for (const cardId of cards) await report(cardId);
    expect(await offer("2001")).toMatchObject({ card: null });
    await turnOff();
  }
});

test("a card that was refused is not offered again; another text of the same creative waits for a review", async () => {
  const buyer = await buy({ firstSeenLimit: 1 });
  await offered();
  expect(await offer("1002")).toEqual({ card: null, reason: "no-card" });
  await ask("update bought_creatives set review = 'approved' where buyer_id = $1", buyer.buyerId);
  await offered("1003");
  changeBid = (bid) => ({ ...bid, message: "Double your money today." });
  await offered("1004");
  expect(await offer("1005"), "the other text has been seen once").toMatchObject({ card: null });
  const known = await ask("select review, title, media_type from bought_creatives where buyer_id = $1", buyer.buyerId);
  expect(known).toEqual([{ review: "waiting", title: "Summer sale: Double your money today.", media_type: "card" }]);
});

test("a buyer of cards is asked for cards alone, and one of videos for none", async () => {
  await buy({ protocol: "openrtb", url: stand.urlOf("bid") });
  expect(await offer()).toEqual({ card: null, reason: "no-buyer" });
  expect(stand.calls).toEqual([]);
});

test("a try reads the card without a notice", async () => {
  const { buyerId } = await buy();
  const answer = await operate("POST", `/buyers/${buyerId}/trial`, {});
  expect(answer).toMatchObject({ outcome: "accepted", isTest: true });
  expect(String(answer.request)).not.toContain("792361");
});

test("an erased user's cards are gone, and what is owed for them stays", async () => {
  const buyer = await buy();
  const { card_id: cardId } = await offered();
  await report(cardId);
  await eraseUser(nodes.store.database, { botId: bot.botId, userId: ann, isMeant: true });
  expect(await ask("select from cards where bot_id = $1", bot.botId)).toEqual([]);
  expect(await owedBy(buyer)).toBe(310n);
});

test("ctx.ads.card sends a card that is marked as an ad and reports it; without its picture, where Telegram cannot read that", async () => {
  const buyer = await buy();
  const { address } = nodes.nodes[0];
  const client = createAds({ url: address, token: bot.token, botId: bot.botId });
  const me = { id: 7, is_bot: true, first_name: "Bot", username: "coins_bot" } as UserFromGetMe;
  const telegram = new Bot<Context & AdsFlavor>("7:telegram", { botInfo: me });
  const sent: { method: string; payload: object }[] = [];
  let isPictureRead = true;
  // Telegram's side.
  telegram.api.config.use(async (_call, method, payload) => {
    sent.push({ method, payload });
    if (method === "sendPhoto" && !isPictureRead)
      return { ok: false, error_code: 400, description: "Bad Request: failed to get HTTP URL content" };
    return { ok: true, result: { message_id: 1, date: 0 } as never };
  });
  telegram.use(adsMiddleware(client));
  const returned: (Card | undefined)[] = [];
  telegram.on("message", async (ctx) => void returned.push(await ctx.ads.card()));
  const from = { id: 1001, is_bot: false, first_name: "Ann", language_code: "en" };
  const chat = { id: 1001, type: "private" as const, first_name: "Ann" };
  const say = (id: number) =>
    telegram.handleUpdate({ update_id: id, message: { message_id: id, date: 0, from, chat, text: "hello" } });

  await say(1);
  const caption = "Ad · Shop\nSummer sale\nEverything at half price until Sunday.";
  const url = `http://ads.test/card/${returned[0]?.cardId}`;
  const keys = { reply_markup: { inline_keyboard: [[{ text: "Look", url }]] } };
  expect(sent).toMatchObject([
    { method: "sendPhoto", payload: { photo: `${stand.address}/sale.jpeg`, caption, ...keys } },
  ]);
  expect(await owedBy(buyer)).toBe(310n);

  isPictureRead = false;
  await say(2);
  expect(sent.slice(1)).toMatchObject([{ method: "sendPhoto" }, { method: "sendMessage", payload: { text: caption } }]);
  expect(await owedBy(buyer)).toBe(620n);

  await turnOff();
  await say(3);
  expect(returned.at(-1)).toBeUndefined();
  await expect(client.cardShown("")).rejects.toMatchObject({ code: "BAD_REQUEST" });
  await expect(client.cardShown("0".repeat(32))).rejects.toMatchObject({ code: "NOT_FOUND" });
});

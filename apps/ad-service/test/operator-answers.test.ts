import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { newClickId, newCode, newEventId } from "@intermission/ad-core/code";
import { auditFields } from "@intermission/operator-api/audit-fields";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import {
  type ChangingRouteName,
  isChanging,
  type OperatorRouteName,
  operatorRoutes,
} from "@intermission/operator-api/operator-routes";
import { FakeChannel, startFakeBotApi } from "@intermission/testing/fake-channels";
import { type OpenIdProviderFixture, startOpenIdProvider } from "@intermission/testing/openid-provider";
import { openSoftwareAuthenticator } from "@intermission/testing/software-authenticator";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { continueLog } from "../src/billing-log/publish-log.ts";
import { folderStorage } from "../src/creatives/media-storage.ts";
import { migrations } from "../src/migrations.ts";
import { recordReported } from "../src/money/held-payments.ts";
import { issueStatements, listStatements } from "../src/money/statements.ts";
import { invitePerson, newPersonId } from "../src/people/people.ts";
import { openSession } from "../src/people/sessions.ts";
import { type AppFixture, newTelegramId, openAppFixture } from "./fixtures/app-fixture.ts";
import { answerFault, checkedAnswers } from "./fixtures/check-operator-answers.ts";
import { openTestEndpoint, type TestEndpoint } from "./fixtures/delivery-fixture.ts";
import { openMailServer } from "./fixtures/mail-server.ts";
import { untilSettled } from "./fixtures/settled-log.ts";
import { type WatchedChanges, watchChanges } from "./fixtures/watch-changes.ts";

const operatorToken = "o".repeat(32);
const taskBotToken = `7000000009:${"A".repeat(35)}`;
const clip = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");

let store: TestDatabase;
let fixture: AppFixture;
let endpoint: TestEndpoint;
let provider: OpenIdProviderFixture;
let changes: WatchedChanges;
let channel: FakeChannel;
let telegram: Awaited<ReturnType<typeof startFakeBotApi>>;
let mail: Awaited<ReturnType<typeof openMailServer>>;
beforeAll(async () => {
  mail = await openMailServer();
  store = await openTestDatabase({ schema: "ad_service", migrations });
  changes = await watchChanges(store.database);
  channel = new FakeChannel("7000000009", () => 1_772_366_400);
  telegram = await startFakeBotApi(channel, taskBotToken);
  provider = await startOpenIdProvider({ redirectUris: ["http://ads.test/console/openid"] });
  const { issuer, clientId, clientSecret } = provider;
  fixture = await openAppFixture(store.database, {
    operatorToken,
    openIdProviders: [{ providerId: "telegram", name: "Telegram", issuer, clientId, clientSecret }],
    requests: {
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: ["127.0.0.1/32"], vast: [], video: ["127.0.0.1/32"], buyer: ["127.0.0.1/32"] },
    },
    notices: {
      smtpUrl: mail.url,
      smtpFrom: "ads@ads.test",
      telegramBotToken: undefined,
      telegramApiUrl: telegram.url,
    },
  });
  endpoint = await openTestEndpoint();
});
afterAll(async () => {
  await endpoint.close();
  await fixture.close();
  await provider.close();
  await telegram.stop();
  await mail.close();
  await store.dispose();
});

type Sent = { status: number; body: Record<string, unknown> };

/** The session's; undefined: requests have the operator's token. */
let cookie: string | undefined;
/** The one that a provider's or a passkey's answer needs. */
let sealedCookie = "";

function keepCookie(set: string): void {
  const [pair = ""] = set.split(";");
  const isEnded = set.includes("Max-Age=0");
  if (!pair.startsWith("__Host-operator=")) sealedCookie = isEnded ? "" : pair;
  else cookie = isEnded ? undefined : pair;
}
/** The transactions in which each route has changed something: the tables of each. */
const changesOf = new Map<string, string[][]>();
/** What is committed by a request whose entry cannot be written: nothing may be. */
const withoutEntry = new Map<string, { status: number; changes: string[][] }>();
/** The provider takes its code once, so that a second request would be refused. */
const onceOnly: readonly string[] = ["finishOpenIdSignIn", "linkIdentity"];

async function send<Name extends OperatorRouteName>(
  ...request: Parameters<typeof operatorRequest<Name>>
): Promise<Sent> {
  const [name] = request;
  if (isChanging(name) && !onceOnly.includes(name)) {
    await changes.take();
    const acceptEntries = await changes.refuseEntriesOf(name);
    const { status } = await call(...request);
    await acceptEntries();
    withoutEntry.set(name, { status, changes: await changes.take() });
  }
  await changes.take();
  const answer = await call(...request);
  changesOf.set(name, await changes.take());
  for (const set of answer.headers.getSetCookie()) keepCookie(set);
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, body: (isJson ? JSON.parse(text) : text) as Record<string, unknown> };
}

async function call<Name extends OperatorRouteName>(
  ...request: Parameters<typeof operatorRequest<Name>>
): Promise<Response> {
  const { method, path, query = {}, body } = operatorRequest(...request);
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isFile = body instanceof Uint8Array;
  const type = isFile ? "application/octet-stream" : "application/json";
  return fetch(`${fixture.address}/operator/v1${path}?${new URLSearchParams(named)}`, {
    method,
    headers: {
      origin: "http://ads.test",
      cookie: [cookie, sealedCookie].filter((one) => one !== undefined && one !== "").join("; "),
      ...(cookie === undefined && { authorization: `Bearer ${operatorToken}` }),
      ...(body !== undefined && { "content-type": type }),
    },
    body: isFile ? new Uint8Array(body) : body === undefined ? null : JSON.stringify(body),
  });
}

/**
 * What routes change after the transaction with the entry: the end of a run, the outcome of a test that was sent, and the traffic
 * of a sample day by day.
 */
const laterTables: Partial<Record<ChangingRouteName, readonly string[] | "any">> = {
  syncOrd: ["ord_account"],
  testEndpoint: ["deliveries", "delivery_attempts", "endpoints"],
  addSample: "any",
  removeSample: "any",
  // What Telegram answered.
  setTaskUpdates: ["task_bots"],
};

/** Why the entries of a route are not exactly one, in the transaction of the change; undefined: they are. */
function auditFault(name: OperatorRouteName): string | undefined {
  const transactions = changesOf.get(name) ?? [];
  const entries = transactions.filter((tables) => tables.includes("audit_entries"));
  if (!isChanging(name)) return entries.length === 0 ? undefined : "it changes nothing, and leaves an entry";
  if (entries.length !== 1) return `it leaves ${entries.length} entries`;
  const later = laterTables[name] ?? [];
  const others = transactions.filter((tables) => !tables.includes("audit_entries"));
  const unaudited = later === "any" ? [] : others.flat().filter((table) => !later.includes(table));
  if (unaudited.length > 0) return `it changes ${unaudited.join(", ")} in another transaction than that of its entry`;
  if (onceOnly.includes(name)) return undefined;
  const failed = withoutEntry.get(name);
  if (failed?.status !== 500) return `without its entry it answers ${failed?.status}`;
  return failed.changes.length === 0 ? undefined : `without its entry it changes ${failed.changes.flat().join(", ")}`;
}

const run = (text: string) => store.database.run({ name: "", text }, []);

async function latestEntryOf(objectId: string): Promise<string> {
  const text = "select max(entry_id)::text as id from audit_entries where object_id = $1";
  return (await store.database.run<{ id: string }>({ name: "", text }, [objectId]))[0]?.id ?? "";
}

async function callRoutesOfBuyers() {
  const body = { name: "Exchange", url: `${endpoint.url}/openrtb2`, key: "secret", blockedCategories: ["IAB25"] };
  const addBuyer = await send("addBuyer", { body });
  const ofBuyer = { params: { buyerId: String(addBuyer.body.buyerId) } };
  const boughtCreativeId = `bcr_${"0".repeat(32)}`;
  await run(`insert into bought_creatives (bought_creative_id, buyer_id, domains, categories, media_url, media_type, width, height,
      duration_ms, media, landing_hosts, first_seen_at, last_seen_at)
    values ('${boughtCreativeId}', '${ofBuyer.params.buyerId}', '{}', '{}', 'https://cdn.example/ad.mp4', 'video/mp4', 640, 360, 10000,
      '{}', '{}', now(), now())`);
  const ofBought = { params: { boughtCreativeId } };
  return {
    listBoughtCreatives: await send("listBoughtCreatives", { query: { review: "queue" } }),
    approveBoughtCreative: await send("approveBoughtCreative", { ...ofBought, body: { revision: 1 } }),
    refuseBoughtCreative: await send("refuseBoughtCreative", { ...ofBought, body: { revision: 1, reason: "Scam" } }),
    reopenBoughtCreative: await send("reopenBoughtCreative", { ...ofBought, body: { revision: 1 } }),
    addBuyer,
    listBuyers: await send("listBuyers"),
    showBuyer: await send("showBuyer", ofBuyer),
    updateBuyer: await send("updateBuyer", { ...ofBuyer, body: { isActive: true, floorMicros: 500_000 } }),
    tryBuyer: await send("tryBuyer", ofBuyer),
    readBids: await send("readBids", ofBuyer),
    showBids: await send("showBids", ofBuyer),
    showDemand: await send("showDemand"),
    importPartnerReport: await send("importPartnerReport", {
      ...ofBuyer,
      query: { day: "date", impressions: "impressions", amount: "revenue", timeZone: "UTC" },
      body: Buffer.from("date,revenue\n2026-03-01,1"),
    }),
    listPartnerDifferences: await send("listPartnerDifferences"),
  };
}

async function callRoutesOfDrafts() {
  const draft = { name: "Own", formats: ["direct_link"], landingUrl: "https://shop.test/own" };
  const draftCampaign = await send("draftCampaign", { query: { advertiser: "Shop" }, body: draft });
  const of = { params: { campaignId: String(draftCampaign.body.campaignId) } };
  const reviseCampaign = await send("reviseCampaign", { ...of, body: { clickPriceMicros: 1000 } });
  const submitCampaign = await send("submitCampaign", of);
  const seen = ({ body }: Sent) => ({ expectedUpdatedAt: body.updatedAt });
  const refuseCampaign = await send("refuseCampaign", { ...of, body: { ...seen(submitCampaign), reason: "No page" } });
  const approveCampaign = await send("approveCampaign", { ...of, body: seen(refuseCampaign) });
  return { draftCampaign, reviseCampaign, submitCampaign, refuseCampaign, approveCampaign };
}

/** Calls each route with what makes it answer, in an order in which each finds what it names. */
async function callEveryRoute(): Promise<Record<OperatorRouteName, Sent>> {
  const botId = newTelegramId();
  const ofBot = { params: { botId } };
  const confirmed = { query: { confirmed: "true" } };
  const bot = await send("addBot", { body: { botId, name: "Quiz", webhookUrl: endpoint.url } });
  const next = await send("createToken", ofBot);
  const explainOrder = await send("explainOrder", { ...ofBot, query: {} });
  const setOrder = await send("setOrder", { ...ofBot, body: { mode: "fixed", campaignIds: ["cmp_1"] } });
  const token = { botId, tokenId: String(next.body.tokenId) };
  const tag = await send("addVastTag", { ...confirmed, body: { url: "https://tags.test/?a=[CACHEBUSTING]" } });
  const uploaded = await send("uploadVideo", { query: { name: "clip.mp4" }, body: await readFile(clip) });
  const creativeId = String(uploaded.body.creativeId);
  const ofCreative = { params: { creativeId } };
  const captions = { params: { creativeId, language: "en" } };
  const added = await send("addCampaign", {
    ...confirmed,
    body: {
      name: "Spring",
      advertiser: "Shop",
      formats: ["rewarded", "direct_link"],
      landingUrl: "https://shop.test/",
      viewPriceMicros: 2000,
      clickPriceMicros: 1500,
      totalBudgetMicros: 1e9,
      startsAt: "2026-01-01",
      targeting: { languages: ["en"] },
      creativeIds: [creativeId],
    },
  });
  const campaignId = String(added.body.campaignId);
  const ofCampaign = { params: { campaignId } };
  const attachment = { campaignId, creativeId: String(tag.body.creativeId) };
  const user = { botId, userId: "501" };
  const code = newCode(String(bot.body.codePrefix), new Uint8Array(64), new Date());
  await seed({ botId, campaignId, creativeId, code });
  const view = (n: number) => ({ params: { sessionId: `${botId}-vie${String(n).repeat(22)}` } });
  const click = (n: number) => ({ params: { clickId: `clk_${n}` } });
  const of = (userId: string) => ({ ...confirmed, body: { botId, userId } });
  const since = { scope: "failed", since: "2026-03-01" };
  endpoint.answer = (response) => response.writeHead(500).end("out of order");

  const botPicture = { params: { botId, picture: "unit" } };
  return {
    explainOrder,
    setOrder,
    addBot: bot,
    createToken: next,
    addVastTag: tag,
    uploadVideo: uploaded,
    addCampaign: added,
    forecastViews: await send("forecastViews", { body: { targeting: { hours: [8, 9] } } }),
    listBots: await send("listBots"),
    showBot: await send("showBot", ofBot),
    listAppOrigins: await send("listAppOrigins", ofBot),
    updateBot: await send("updateBot", {
      ...ofBot,
      body: { rewardPerView: 5, rewardUnit: { en: { one: "coin", other: "coins" } }, testers: ["501"] },
    }),
    suspendBot: await send("suspendBot", ofBot),
    resumeBot: await send("resumeBot", ofBot),
    setBotPicture: await send("setBotPicture", { ...botPicture, body: Buffer.from(blackPicture, "base64") }),
    removeBotPicture: await send("removeBotPicture", botPicture),
    activateToken: await send("activateToken", { params: token }),
    addUploadedVideo: await send("addUploadedVideo", { body: { uploadId: await uploadInParts(), name: "parts.mp4" } }),
    addVideoByAddress: await send("addVideoByAddress", { body: { url: await videoAddress() } }),
    listCreatives: await send("listCreatives"),
    showCreative: await send("showCreative", ofCreative),
    listAdReports: await send("listAdReports"),
    readReviewQueue: await send("readReviewQueue"),
    reopenReview: await send("reopenReview", { ...ofCreative, body: { revision: 1 } }),
    refuseCreative: await send("refuseCreative", { ...ofCreative, body: { revision: 1, reason: "Too small to read" } }),
    submitCreative: await send("submitCreative", ofCreative),
    approveCreative: await send("approveCreative", { ...ofCreative, body: { revision: 1 } }),
    tryVastTag: await send("tryVastTag", { body: { url: "https://tags.test/?a=[CACHEBUSTING]" } }),
    renameCreative: await send("renameCreative", { ...ofCreative, body: { name: "Spring, 2 s" } }),
    setLegalLine: await send("setLegalLine", { ...ofCreative, body: { legalLine: "Shop Ltd" } }),
    setPoster: await send("setPoster", { ...ofCreative, body: Buffer.from(blackPicture, "base64") }),
    setCaptions: await send("setCaptions", { ...captions, body: Buffer.from(subtitles) }),
    removeCaptions: await send("removeCaptions", captions),
    listCampaigns: await send("listCampaigns"),
    countCampaigns: await send("countCampaigns"),
    showCampaign: await send("showCampaign", ofCampaign),
    updateCampaign: await send("updateCampaign", { ...ofCampaign, ...confirmed, body: { dailyBudgetMicros: 5e6 } }),
    raiseBudget: await send("raiseBudget", { ...ofCampaign, body: { dailyBudgetMicros: 6e6 } }),
    revertCampaign: await send("revertCampaign", {
      ...ofCampaign,
      ...confirmed,
      body: { entryId: await latestEntryOf(campaignId) },
    }),
    pauseCampaign: await send("pauseCampaign", ofCampaign),
    resumeCampaign: await send("resumeCampaign", ofCampaign),
    attachCreative: await send("attachCreative", { params: attachment, body: { weight: 2, label: "Shop Ltd" } }),
    detachCreative: await send("detachCreative", { params: attachment }),
    ...(await callRoutesOfDrafts()),
    ...(await callRoutesOfBuyers()),
    explainChoice: await send("explainChoice", { query: { botId, userId: "77" } }),
    showStatus: await send("showStatus"),
    showSystem: await send("showSystem"),
    showCurrency: await send("showCurrency"),
    setCurrency: await send("setCurrency", { ...confirmed, body: { currency: "USD" } }),
    listAdvertisers: await send("listAdvertisers"),
    issuePostbackKey: await send("issuePostbackKey", { params: { advertiser: "shop" } }),
    showAdvertiser: await send("showAdvertiser", { params: { advertiser: "shop" } }),
    addAdvertiser: await send("addAdvertiser", { body: { name: "Rival" } }),
    archiveAdvertiser: await send("archiveAdvertiser", { params: { advertiser: "Rival" } }),
    restoreAdvertiser: await send("restoreAdvertiser", { params: { advertiser: "Rival" } }),
    updateAdvertiser: await send("updateAdvertiser", { params: { advertiser: "Shop" }, body: { name: "Shops" } }),
    ...(await callRoutesOfMoney(ofBot)),
    listLatestEventsOfBot: await send("listLatestEventsOfBot", ofBot),
    listEventsOfBot: await send("listEventsOfBot", ofBot),
    listEndpoints: await send("listEndpoints"),
    showEndpoint: await send("showEndpoint", ofBot),
    limitEndpoint: await send("limitEndpoint", { ...ofBot, body: { maxInFlight: 8 } }),
    testEndpoint: await send("testEndpoint", { ...ofBot, body: {} }),
    disableEndpoint: await send("disableEndpoint", ofBot),
    enableEndpoint: await send("enableEndpoint", { ...ofBot, body: { skipTest: true } }),
    listDeliveries: await send("listDeliveries"),
    showDelivery: await send("showDelivery", { params: { eventId: "evt_0" } }),
    replayDelivery: await send("replayDelivery", { params: { eventId: "evt_0" } }),
    countReplayable: await send("countReplayable", { ...ofBot, query: since }),
    replayDeliveries: await send("replayDeliveries", { ...ofBot, body: { ...since, until: "2026-03-02" } }),
    showNotices: await send("showNotices", ofBot),
    setNotices: await send("setNotices", { ...ofBot, body: { email: "ops@shop.test", telegramChatId: null } }),
    listViews: await send("listViews"),
    releaseView: await send("releaseView", view(1)),
    refuseView: await send("refuseView", view(2)),
    refundView: await send("refundView", view(1)),
    releaseViews: await send("releaseViews", of("523")),
    refuseViews: await send("refuseViews", of("524")),
    refundViews: await send("refundViews", of("523")),
    listClicks: await send("listClicks"),
    releaseClick: await send("releaseClick", click(1)),
    refuseClick: await send("refuseClick", click(2)),
    refundClick: await send("refundClick", click(1)),
    releaseClicks: await send("releaseClicks", of("513")),
    refuseClicks: await send("refuseClicks", of("514")),
    refundClicks: await send("refundClicks", of("513")),
    listConversions: await send("listConversions"),
    reverseConversion: await send("reverseConversion", { body: { clickId: convertedClick, event: "purchase" } }),
    ...(await callRoutesOfTasks({ botId, campaignId })),
    sumConversions: await send("sumConversions", { query: { from: "2026-02-28" } }),
    readStats: await send("readStats", { query: { by: "campaign" } }),
    exportStats: await send("exportStats", { query: { by: "day,campaign" } }),
    sumUsers: await send("sumUsers"),
    findTimelines: await send("findTimelines", { query: { text: user.userId } }),
    readTimelineOfUser: await send("readTimelineOfUser", { params: user }),
    readTimelineOfCode: await send("readTimelineOfCode", { params: { code: code } }),
    countRecordsOfUser: await send("countRecordsOfUser", { params: user }),
    eraseUser: await send("eraseUser", { params: user }),
    revokeToken: await send("revokeToken", { params: token }),
    ...(await callRoutesOfPeople()),
    ...(await callRoutesOfSignIn()),
    ...(await callRoutesOfSample()),
    archiveCampaign: await send("archiveCampaign", ofCampaign),
  };
}

/** A task of the channel was offered; then the task bot loses its rights. */
async function callRoutesOfTasks({ botId, campaignId }: { botId: string; campaignId: string }) {
  const bot = await send("addTaskBot", { body: { token: taskBotToken } });
  const ofBot = { params: { taskBotId: String(bot.body.taskBotId) } };
  const added = await send("addTaskChannel", { ...ofBot, body: { chat: String(channel.chat.id) } });
  const chatId = String(added.body.chatId);
  await run(`insert into tasks (code, bot_id, user_id, campaign_id, chat_id, price_micros, hold_days, paid_at, state, was_out,
      offered_at, expires_at, proof, joined_at, held_until)
    values ('task1', '${botId}', '501', '${campaignId}', '${chatId}', 5000, 7, 'joined', 'held', true, now(), now(), 'link', now(), now())`);
  channel.setAdmin(false);
  channel.isLocal = true;
  return {
    addTaskBot: bot,
    addTaskChannel: added,
    setTaskUpdates: await send("setTaskUpdates", { ...ofBot, body: { updatesBy: "webhook" } }),
    listTaskBots: await send("listTaskBots"),
    listTaskChannels: await send("listTaskChannels"),
    checkTaskChannel: await send("checkTaskChannel", { params: { chatId } }),
    listTasks: await send("listTasks"),
    sumTasks: await send("sumTasks"),
  };
}

/** An advertiser pays in. */
async function callRoutesOfMoney(ofBot: { params: { botId: string } }) {
  const ofShop = { params: { advertiser: "shops" } };
  const correction = { amountMicros: 50_000, direction: "credit", note: "Goodwill" };
  return {
    setTerms: await send("setTerms", { ...ofShop, body: { billing: "credit", creditLimitMicros: 5_000_000 } }),
    recordTopUp: await send("recordTopUp", { ...ofShop, body: { amountMicros: 2e16, reference: "INV-1" } }),
    correctAdvertiser: await send("correctAdvertiser", { ...ofShop, body: { ...correction, direction: "debit" } }),
    correctPublisher: await send("correctPublisher", { ...ofBot, body: correction }),
    listAdvertiserMoney: await send("listAdvertiserMoney"),
    showAdvertiserMoney: await send("showAdvertiserMoney", ofShop),
    listAdvertiserEntries: await send("listAdvertiserEntries", ofShop),
    ...(await callRoutesOfHeldPayments()),
    ...(await callRoutesOfApprovals(ofShop)),
    ...(await callRoutesOfStatements(ofShop, ofBot)),
    listPublisherEntries: await send("listPublisherEntries", ofBot),
    setOrd: await send("setOrd", { body: { key: "key-of-ord" } }),
    showOrd: await send("showOrd"),
    listFilings: await send("listFilings"),
    syncOrd: await send("syncOrd", { body: {} }),
  };
}

/** A provider reports two payments of the invoice whose top-up is recorded. */
async function callRoutesOfHeldPayments() {
  const [shop] = await store.database.run<{ id: string }>(
    { name: "", text: "select advertiser_id as id from advertisers where name_key = 'shops'" },
    [],
  );
  for (const paymentId of ["pay_1", "pay_2"]) {
    const amount = { amountMicros: 5e6, currency: "USD", reference: "INV-1" };
    const payment = { provider: "standard", paymentId, advertiserId: shop?.id ?? "", ...amount };
    await recordReported(store.database, payment, { currency: "USD", now: fixture.clock.now });
  }
  const listed = await send("listHeldPayments");
  const [first, second] = listed.body.payments as { heldId: string }[];
  return {
    listHeldPayments: listed,
    creditHeldPayment: await send("creditHeldPayment", { params: { heldId: first?.heldId ?? "" } }),
    dismissHeldPayment: await send("dismissHeldPayment", { params: { heldId: second?.heldId ?? "" } }),
  };
}

/** Two owners protect money from each other. */
async function callRoutesOfApprovals(ofShop: { params: { advertiser: string } }) {
  const { now } = fixture.clock;
  const cookies: string[] = [];
  for (const email of ["ann@ads.test", "bea@ads.test"]) {
    const personId = newPersonId();
    await invitePerson(
      { ...fixture, database: store.database },
      { personId, invitation: { email, role: "owner" }, now },
    );
    await store.database.run({ name: "", text: "update people set password_hash = 'x' where person_id = $1" }, [
      personId,
    ]);
    const { token } = await store.database.transaction((tx) => openSession(tx, { personId, now }));
    cookies.push(`__Host-operator=${token}`);
  }
  const ask = async () => {
    cookie = cookies[0];
    await call("correctAdvertiser", { ...ofShop, body: { amountMicros: 9e6, direction: "credit", note: "Goodwill" } });
    const { requests } = z
      .object({ requests: z.array(z.object({ requestId: z.string() })) })
      .parse(await (await call("listMoneyRequests", { query: { state: "waiting" } })).json());
    cookie = cookies[1];
    return { params: { requestId: requests[0]?.requestId ?? "" } };
  };
  const set = await send("setApprovalAmount", { body: { aboveMicros: 8_000_000 } });
  const called = {
    setApprovalAmount: set,
    showApprovalAmount: await send("showApprovalAmount"),
    approveMoneyRequest: await send("approveMoneyRequest", await ask()),
    refuseMoneyRequest: await send("refuseMoneyRequest", { ...(await ask()), body: { reason: "Of last year" } }),
    listMoneyRequests: await send("listMoneyRequests"),
  };
  cookie = undefined;
  await run("update deployment set approval_above_micros = null");
  await run("update people set is_disabled = true where email in ('ann@ads.test', 'bea@ads.test')");
  return called;
}

/** The month is over. */
async function callRoutesOfStatements(
  ofShop: { params: { advertiser: string } },
  ofBot: { params: { botId: string } },
) {
  await run("update money_progress set settled_until = '2026-04-02'");
  await issueStatements(store.database);
  const deps = {
    database: store.database,
    secretBox: fixture.secretBox,
    media: folderStorage(fixture.mediaFolder),
    publicUrl: "http://ads.test",
    log: fixture.app.log,
  };
  await untilSettled(store.database, () => continueLog(deps));
  const [advertiser, bot] = await listStatements(store.database, { limit: 2 }).then((list) => list.toReversed());
  const format = { query: { format: "csv" } };
  const earlier = fixture.clock.now;
  fixture.clock.now = new Date("2026-04-02T00:00:00Z");
  const paid = await send("recordPayout", { ...ofBot, body: { month: "2026-03", reference: "SEPA 1" } });
  fixture.clock.now = earlier;
  return {
    recordPayout: paid,
    ...(await callRoutesOfParties(ofShop, ofBot)),
    readEarnings: await send("readEarnings", ofBot),
    showLog: await send("showLog"),
    readProof: await send("readProof", { params: { eventId: "evt_0" } }),
    readStatementProof: await send("readStatementProof", {
      params: { ...ofShop.params, number: String(advertiser?.number) },
    }),
    readSamples: await send("readSamples", {
      params: { ...ofShop.params, number: String(advertiser?.number) },
      query: { size: "1" },
    }),
    listPublisherMoney: await send("listPublisherMoney", { query: { month: "2026-03" } }),
    listStatements: await send("listStatements"),
    listAdvertiserStatements: await send("listAdvertiserStatements", ofShop),
    listPublisherStatements: await send("listPublisherStatements", ofBot),
    readAdvertiserStatement: await send("readAdvertiserStatement", {
      params: { ...ofShop.params, number: String(advertiser?.number) },
      ...format,
    }),
    readPublisherStatement: await send("readPublisherStatement", {
      params: { ...ofBot.params, number: String(bot?.number) },
      ...format,
    }),
  };
}

/** Another bot has earned in a later month, which is over, too. */
async function callRoutesOfParties(ofShop: { params: { advertiser: string } }, ofBot: { params: { botId: string } }) {
  const iban = "NL91ABNA0417164300";
  const parties = {
    setOperatorParty: await send("setOperatorParty", { body: { legalName: "Rewards Ltd", taxPercent: "8.1" } }),
    showOperatorParty: await send("showOperatorParty"),
    showTopUpWays: await send("showTopUpWays", ofShop),
    setAdvertiserParty: await send("setAdvertiserParty", { ...ofShop, body: { legalName: "Shop Ltd" } }),
    showAdvertiserParty: await send("showAdvertiserParty", ofShop),
    setPayee: await send("setPayee", { ...ofBot, body: { legalName: "Quiz Studio", iban } }),
    showPayee: await send("showPayee", ofBot),
  };
  const earlier = fixture.clock.now;
  fixture.clock.now = new Date("2026-04-15T00:00:00Z");
  await send("correctPublisher", { ...ofBot, body: { amountMicros: 5e6, direction: "credit", note: "Of April" } });
  await run("update money_progress set settled_until = '2026-05-02'");
  fixture.clock.now = new Date("2026-05-02T00:00:00Z");
  const made = await send("payAll", { body: { month: "2026-04" } });
  fixture.clock.now = earlier;
  const file = { params: { runId: String(made.body.runId) }, query: { format: "csv" } };
  return {
    ...parties,
    payAll: made,
    listPayoutRuns: await send("listPayoutRuns"),
    readPayoutRun: await send("readPayoutRun", file),
  };
}

async function callRoutesOfSample() {
  return {
    addSample: await send("addSample"),
    showSample: await send("showSample"),
    removeSample: await send("removeSample"),
  };
}

/** A person is invited, signs in, out and in again, is disabled and enabled, and invited anew. */
async function callRoutesOfPeople() {
  const invited = await send("invitePerson", {
    body: { email: "Ann@shop.test", role: "advertiser", advertiser: "shops" },
  });
  const { personId } = invited.body.person as { personId: string };
  const token = String(invited.body.link).split("#")[1];
  const opened = await send("openInvitation", { body: { token } });
  const code = (seconds: number) => {
    const secret = Secret.fromBase32(String(opened.body.totpSecret));
    return new TOTP({ secret }).generate({ timestamp: fixture.clock.now.getTime() + seconds * 1000 });
  };
  const password = "correct horse battery";
  const accepted = await send("acceptInvitation", { body: { token, password, code: code(-30) } });
  const session = await send("showSession");
  const reports = await callRoutesOfOwnThings();
  const alerts = {
    setAlertSettings: await send("setAlertSettings", { body: { channels: { "new-device": ["console"] } } }),
    showAlertSettings: await send("showAlertSettings"),
    listAlerts: await send("listAlerts"),
    markAlertsRead: await send("markAlertsRead", { body: { upTo: "999" } }),
  };
  const made = await send("createRecoveryCodes");
  const [recoveryCode] = made.body.codes as string[];
  const email = "ann@shop.example";
  const requested = await send("requestEmailChange", { body: { email, currentPassword: password, code: code(0) } });
  const [undoToken, confirmToken] = mail.received
    .slice(-2)
    .map(({ text }) => /#(?:undo-)?([\w-]{43})/.exec(text)?.[1] ?? "");
  const own = await send("showOwnEmail");
  const confirmed = await send("confirmEmailChange", { body: { token: confirmToken } });
  const newPassword = "staple battery horse";
  const changed = await send("changePassword", {
    body: { currentPassword: password, code: code(30), password: newPassword },
  });
  const out = await send("signOut");
  const link = await send("createSignInLink", { body: { email } });
  const signedIn = await send("signIn", {
    body: { email, password: newPassword, code: recoveryCode },
  });
  const sessions = await send("listOwnSessions");
  const [{ sessionId = "" } = {}] = sessions.body.sessions as { sessionId?: string }[];
  const ended = await send("endOwnSession", { params: { sessionId } });
  const linked = await send("openSignInLink", { body: { token: String(link.body.link).split("#")[1] } });
  const everywhere = await send("signOutEverywhere");
  const undone = await send("undoEmailChange", { body: { token: undoToken } });
  const ofPerson = { params: { personId } };
  return {
    requestEmailChange: requested,
    showOwnEmail: own,
    confirmEmailChange: confirmed,
    undoEmailChange: undone,
    changeEmail: await send("changeEmail", { ...ofPerson, body: { email: "eve@shop.test" } }),
    invitePerson: invited,
    openInvitation: opened,
    acceptInvitation: accepted,
    showSession: session,
    ...reports,
    createRecoveryCodes: made,
    ...alerts,
    changePassword: changed,
    listOwnSessions: sessions,
    endOwnSession: ended,
    signOut: out,
    signIn: signedIn,
    signOutEverywhere: everywhere,
    createSignInLink: link,
    openSignInLink: linked,
    listPeople: await send("listPeople"),
    listAuditEntries: await send("listAuditEntries"),
    changeRole: await send("changeRole", { ...ofPerson, body: { role: "analyst" } }),
    disablePerson: await send("disablePerson", ofPerson),
    enablePerson: await send("enablePerson", ofPerson),
    renewInvitation: await send("renewInvitation", ofPerson),
  };
}

const convertedClick = newClickId(Date.parse("2026-03-01T10:00:00Z"), new Uint8Array(10));

/** An invited person accepts by a provider, links another account, adds a passkey, and signs in by it. */
async function callRoutesOfSignIn() {
  const invited = await send("invitePerson", { body: { email: "bea@shop.test", role: "analyst" } });
  const invitation = String(invited.body.link).split("#")[1] ?? "";
  const providerId = "telegram";
  const answerOf = async ({ body }: Sent) => ({ body: { query: await provider.follow(String(body.address)) } });
  const started = await send("startOpenIdSignIn", { body: { providerId, invitation } });
  const finished = await send("finishOpenIdSignIn", await answerOf(started));
  provider.browser.account = { subject: "1002", username: "bea-at-work" };
  const linking = await send("startLinkingIdentity", { body: { providerId } });
  const linked = await send("linkIdentity", await answerOf(linking));
  const authenticator = openSoftwareAuthenticator({ origin: "http://ads.test" });
  const adding = await send("startAddingPasskey");
  const created = adding.body as { challenge: string; user: { id: string } };
  const added = await send("addPasskey", { body: { name: "Phone", credential: authenticator.register(created) } });
  const params = { passkeyId: String(added.body.passkeyId) };
  const renamed = await send("renamePasskey", { params, body: { name: "Old phone" } });
  const methods = await send("listSignInMethods");
  await send("signOut");
  const challenge = await send("startPasskeySignIn");
  const credential = authenticator.sign(challenge.body as { challenge: string });
  return {
    listSignInProviders: await send("listSignInProviders"),
    startOpenIdSignIn: started,
    finishOpenIdSignIn: finished,
    startLinkingIdentity: linking,
    linkIdentity: linked,
    startAddingPasskey: adding,
    addPasskey: added,
    renamePasskey: renamed,
    listSignInMethods: methods,
    startPasskeySignIn: challenge,
    signInWithPasskey: await send("signInWithPasskey", { body: { credential } }),
    unlinkIdentity: await send("unlinkIdentity", { params: { identityId: String(linked.body.identityId) } }),
    removePasskey: await send("removePasskey", { params }),
    ...(await impersonate()),
    signOutEverywhere: await send("signOutEverywhere"),
  };
}

/** Of the person who is signed in. */
async function callRoutesOfOwnThings() {
  const uploadId = await uploadInParts({ origin: "http://ads.test", cookie: cookie ?? "" }, "?advertiser=shops");
  const saved = await send("saveReport", { body: { name: "Bots", search: "by=bot&compare=previous" } });
  const params = { savedReportId: String(saved.body.savedReportId) };
  const mails = { every: "week", hour: 8, timeZone: "Europe/Berlin" };
  return {
    saveReport: saved,
    mailSavedReport: await send("mailSavedReport", { params, body: mails }),
    stopMailingReport: await send("stopMailingReport", { params }),
    listUploads: await send("listUploads"),
    removeUpload: await send("removeUpload", { params: { uploadId } }),
    listSavedReports: await send("listSavedReports"),
    removeSavedReport: await send("removeSavedReport", { params }),
  };
}

/** The person who is signed in becomes an owner, and sees the console as another person. */
async function impersonate() {
  await run("update people set role = 'owner' where email = 'bea@shop.test'");
  const people = await send("listPeople", { query: { role: "analyst" } });
  const [{ personId = "" } = {}] = people.body.people as { personId?: string }[];
  return {
    startImpersonation: await send("startImpersonation", { params: { personId } }),
    endImpersonation: await send("endImpersonation"),
  };
}

/** A paid event with a failed delivery, held views and clicks, a conversion and an objection. */
async function seed(of: { botId: string; campaignId: string; creativeId: string; code: string }) {
  const { botId, campaignId, creativeId, code } = of;
  const at = "'2026-03-01T10:00Z'";
  await run(`insert into codes (bot_id, code, user_id, issued_at, expires_at)
    values ('${botId}', '${code}', '501', ${at}, '2026-03-01T13:00Z')`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, creative_id, price_micros, revenue_micros,
      occurred_at)
    values ('evt_0', '${botId}', 'rewarded', '501', '${code}', '${campaignId}', '${creativeId}', 2000, 1400, ${at})`);
  // Its id begins with its time, by which a replay of many finds it.
  const failed = newEventId(Date.parse("2026-03-01T10:00:00Z"), new Uint8Array(10));
  await run(`insert into events (event_id, bot_id, event, user_id, occurred_at)
    values ('${failed}', '${botId}', 'direct_link', '502', ${at})`);
  await run(`insert into event_bodies (event_id, bot_id, body)
    select event_id, '${botId}', '{}' from unnest(array['evt_0', '${failed}']) as event_id`);
  await run(`insert into deliveries (bot_id, event_id, state, end_reason, due_at, attempts, finished_at)
    select '${botId}', event_id, 'failed', 'attempts-used-up', ${at}, 1, ${at} from unnest(array['evt_0', '${failed}']) as event_id`);
  await run(`insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, status, total_ms, is_replay)
    values ('${botId}', 'evt_0', 1, ${at}, 'https://quiz.test/', 500, 12, false)`);
  await run(`insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at,
      deadline, closed_at, close_reason, token_hash, state, suspicions)
    select '${botId}', '${botId}-vie' || repeat(n::text, 22), 'view' || n, '52' || n, '${campaignId}', '${creativeId}', 2000,
      ${at}, ${at}, ${at}, 'tap', '\\x00', 'held', '{too-even}' from generate_series(1, 4) as n`);
  await run(`insert into withheld_clicks (click_id, bot_id, code, user_id, campaign_id, outcome, suspicions, network_hash,
      occurred_at)
    select 'clk_' || n, '${botId}', 'click' || n, '51' || n, '${campaignId}', 'held', '{mostly-taps}', '\\x0102030405', ${at}
    from generate_series(1, 4) as n`);
  await run(`insert into conversions (click_id, event, value_micros, currency, bot_id, campaign_id, occurred_at, clicked_at)
    values ('${convertedClick}', 'purchase', 9007199254740993, 'USD', '${botId}', '${campaignId}', ${at}, ${at})`);
  await run(`insert into ad_reports (bot_id, user_id, creative_id, day, reason, campaign_id, view_id, reported_at)
    values ('${botId}', '501', '${creativeId}', '2026-03-01', 'scam', '${campaignId}', 's', ${at})`);
}

/** The endpoint serves the video too. */
async function videoAddress(): Promise<string> {
  // Another file than the uploaded one: with an empty box at its end.
  const bytes = Buffer.concat([await readFile(clip), Buffer.from("\0\0\0\x08free")]);
  endpoint.answer = (response) => response.writeHead(200, { "content-type": "video/mp4" }).end(bytes);
  return endpoint.url;
}

/** An upload by the tus protocol, of another file than the uploaded one. */
async function uploadInParts(
  caller: Record<string, string> = { authorization: `Bearer ${operatorToken}` },
  query = "",
): Promise<string> {
  const bytes = Buffer.concat([await readFile(clip), Buffer.from("\0\0\0\x09freeX")]);
  const headers = { ...caller, "tus-resumable": "1.0.0" };
  const begun = await fetch(`${fixture.address}/operator/v1/uploads${query}`, {
    method: "POST",
    headers: { ...headers, "upload-length": String(bytes.byteLength) },
  });
  const location = begun.headers.get("location") ?? "";
  await fetch(new URL(location, fixture.address), {
    method: "PATCH",
    headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body: bytes,
  });
  return new URL(location, fixture.address).pathname.split("/").at(-1) ?? "";
}

const blackPicture =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAG0lEQVR42u3BgQAAAADDoPlT3+AEVQEAAAB8AxBAAAG9PLePAAAAAElFTkSuQmCC";
const subtitles = "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n";

test("every operator route answers what its schema says, and each one that changes something leaves one entry, by the transaction of the change", {
  timeout: 300_000,
}, async () => {
  const answers = await callEveryRoute();
  const refused = Object.entries(answers).filter(([, { status }]) => status >= 300);
  expect(refused).toEqual([]);
  for (const [name, { body }] of Object.entries(answers)) {
    expect(answerFault(operatorRoutes[name as OperatorRouteName], body), name).toBeUndefined();
  }
  const names = Object.keys(operatorRoutes) as OperatorRouteName[];
  const faults = names.map((name) => ({ name, fault: auditFault(name) }));
  expect(faults.filter(({ fault }) => fault !== undefined)).toEqual([]);
  // The console has a word for each field.
  const text = `select distinct jsonb_object_keys(state) as field
    from audit_entries cross join lateral (values (before), (after)) as states (state) where jsonb_typeof(state) = 'object'`;
  const recorded = await store.database.run<{ field: string }>({ name: "", text }, []);
  const known = new Set<string>(auditFields);
  expect(recorded.map(({ field }) => field).filter((field) => !known.has(field))).toEqual([]);
  expect([...checkedAnswers].sort()).toEqual(Object.keys(operatorRoutes).sort());
});

test("an answer with a field that its schema lacks, or without one that it has, is noticed", () => {
  const right = { currency: "USD", running: "USD" };
  expect(answerFault(operatorRoutes.showCurrency, right)).toBeUndefined();
  expect(answerFault(operatorRoutes.showCurrency, { ...right, secret: "x" })).toContain("secret");
  expect(answerFault(operatorRoutes.showCurrency, { currency: "USD" })).toContain("running");
});

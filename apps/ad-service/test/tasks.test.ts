import { createAds } from "@intermission/publisher";
import { type AdsFlavor, adsMiddleware } from "@intermission/publisher/grammy";
import { TelegramRefusal } from "@intermission/testing/fake-channels";
import { Bot, type Context } from "grammy";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { rollUpStatistics } from "../src/statistics/roll-up-statistics.ts";
import { applyUpdate, type TaskDeps } from "../src/tasks/follow-updates.ts";
import { addTaskChannel, chatIdIn, checkTaskChannel, listTaskChannels } from "../src/tasks/task-channels.ts";
import { readUpdates } from "../src/tasks/telegram-answers.ts";
import { openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";

let fixture: TaskFixture;
const campaigns: string[] = [];
beforeAll(async () => {
  fixture = await openTaskFixture();
});
afterAll(() => fixture.close());
afterEach(async () => {
  // Each test has a campaign and users of its own.
  for (const campaignId of campaigns.splice(0)) await fixture.pause(campaignId);
});

let latestUser = 500_000;
const newUser = () => String(++latestUser);
const MINUTE = 60_000;
const later = (ms: number) => fixture.setNow(new Date(fixture.clock.now.getTime() + ms));

async function newCampaign(settings: object = {}): Promise<string> {
  const campaignId = await fixture.newCampaign(settings);
  campaigns.push(campaignId);
  return campaignId;
}

/** A task that its user has opened. */
async function openedTask(settings: object = {}, ofBot: object = {}) {
  const campaignId = await newCampaign(settings);
  const bot = await fixture.newBot(ofBot);
  const userId = newUser();
  const [task] = await bot.tasks(userId, { reference: "daily" });
  if (task === undefined) throw new Error("no task was offered");
  const inviteLink = await fixture.open(task.code);
  expect(inviteLink).toMatch(/^https:\/\/t\.me\/\+link/);
  return { campaignId, bot, userId, code: task.code, inviteLink };
}

test("a join by the code's link is paid at once, charged, delivered, and kept after its days", async () => {
  const { campaignId, bot, userId, code, inviteLink } = await openedTask({ taskHoldDays: 7 });
  expect(fixture.channel.links.at(-1)).toMatchObject({ name: code, member_limit: 1 });
  expect(fixture.channel.join(userId, inviteLink)).toBe(true);
  await fixture.untilState(code, "held");
  expect(await fixture.earned(code)).toEqual(["task"]);
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 50_000, charged: 50_000, refunded: 0 });
  const [body] = await fixture.rows<{ body: string }>(
    "select body from event_bodies join events using (event_id) where code = $1",
    [code],
  );
  expect(JSON.parse(body?.body ?? "")).toMatchObject({ event: "task", user_tg_id: userId, code, reference: "daily" });
  expect(
    await fixture.rows("select state from deliveries join events using (event_id) where code = $1", [code]),
  ).toEqual([{ state: "held" }]);
  // The link is of no use any more.
  await fixture.sweep();
  expect(fixture.channel.links.at(-1)?.is_revoked).toBe(true);
  later(7 * 24 * 60 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(code)).toBe("kept");
  expect(await fixture.earned(code)).toEqual(["task"]);
  expect(await bot.tasks(userId)).toEqual([]);
});

test.each([
  ["a second later", 1000],
  ["on the last day", 7 * 24 * 60 * MINUTE - 2000],
])("who leaves %s is taken back once, and the advertiser pays nothing", async (_name, ms) => {
  const { campaignId, code, userId, inviteLink } = await openedTask();
  fixture.channel.join(userId, inviteLink);
  await fixture.untilState(code, "held");
  later(ms);
  fixture.channel.leave(userId);
  fixture.channel.giveAgain(...fixture.channel.updates.slice(-1));
  await fixture.untilState(code, "left");
  await fixture.untilApplied();
  expect(await fixture.earned(code)).toEqual(["task", "task_reversed"]);
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 0, charged: 50_000, refunded: 50_000 });
  // For ever: joining again earns nothing.
  fixture.channel.join(userId);
  await fixture.untilApplied();
  expect(await fixture.earned(code)).toEqual(["task", "task_reversed"]);
});

test("paid when it is kept: nothing before, nothing to who leaves, nothing while Telegram does not answer", async () => {
  const kept = { taskPaidAt: "kept", taskHoldDays: 1 };
  const { campaignId, code, userId, inviteLink } = await openedTask(kept);
  fixture.channel.join(userId, inviteLink);
  await fixture.untilState(code, "held");
  expect(await fixture.earned(code)).toEqual([]);
  later(24 * 60 * MINUTE + 1000);
  fixture.channel.failNext("getChatMember", new TelegramRefusal(500, "Internal Server Error"));
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["held", []]);
  later(6 * MINUTE);
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["kept", ["task"]]);
  expect(await fixture.moneyOf(campaignId)).toMatchObject({ spent: 50_000 });

  const second = await openedTask(kept);
  fixture.channel.join(second.userId, second.inviteLink);
  await fixture.untilState(second.code, "held");
  fixture.channel.leave(second.userId);
  await fixture.untilState(second.code, "left");
  expect(await fixture.earned(second.code)).toEqual([]);
});

test("another user by the link, the user by another link, and a member before count for nobody", async () => {
  const first = await openedTask();
  fixture.channel.join(newUser(), first.inviteLink);
  await fixture.untilState(first.code, "void");
  // The link is dead, and the user is not offered the task again.
  expect(fixture.channel.join(first.userId, first.inviteLink)).toBe(false);
  expect(await first.bot.tasks(first.userId)).toEqual([]);
  await fixture.pause(first.campaignId);

  const second = await openedTask();
  fixture.channel.join(second.userId);
  await fixture.untilState(second.code, "void");
  expect([...(await fixture.earned(first.code)), ...(await fixture.earned(second.code))]).toEqual([]);

  const member = newUser();
  fixture.channel.addSilently(member);
  expect(await second.bot.tasks(member)).toEqual([]);
  const banned = newUser();
  fixture.channel.addSilently(banned, "kicked");
  expect(await second.bot.tasks(banned)).toEqual([]);
});

test("a user whom Telegram does not know is offered the task, and paid only by a reported join", async () => {
  await newCampaign();
  const bot = await fixture.newBot();
  const userId = newUser();
  fixture.channel.unmet.add(userId);
  const [task] = await bot.tasks(userId);
  const code = task?.code ?? "";
  const link = await fixture.open(code);
  fixture.channel.addSilently(userId);
  expect((await bot.post(`/tasks/${code}/check`)).body.state).toBe("opened");
  later(2 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(code)).toBe("opened");
  fixture.channel.addSilently(userId, "left");
  fixture.channel.join(userId, link);
  await fixture.untilState(code, "held");
});

test("a join whose report is lost counts a minute after Telegram was asked; one that is reported otherwise by then does not", async () => {
  const { bot, code, userId } = await openedTask();
  fixture.channel.addSilently(userId);
  expect((await bot.post(`/tasks/${code}/check`)).body.state).toBe("opened");
  await fixture.sweep();
  expect(await fixture.earned(code)).toEqual([]);
  later(MINUTE + 1000);
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["held", ["task"]]);

  const second = await openedTask();
  fixture.channel.join(second.userId);
  await second.bot.post(`/tasks/${second.code}/check`);
  await fixture.untilState(second.code, "void");
  later(MINUTE + 1000);
  await fixture.sweep();
  expect(await fixture.earned(second.code)).toEqual([]);
});

test("what comes late, twice or before an earlier report pays once; after the end nothing counts", async () => {
  const late = await openedTask();
  fixture.channel.join(late.userId, late.inviteLink);
  const update = fixture.channel.lose();
  later(62 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(late.code)).toBe("lapsed");
  fixture.channel.giveAgain(update ?? {}, update ?? {});
  await fixture.untilState(late.code, "held");
  await fixture.untilApplied();
  expect(await fixture.earned(late.code)).toEqual(["task"]);

  const swapped = await openedTask();
  fixture.channel.join(swapped.userId, swapped.inviteLink);
  const joined = fixture.channel.lose();
  later(1000);
  fixture.channel.leave(swapped.userId);
  await fixture.untilApplied();
  fixture.channel.giveAgain(joined ?? {});
  await fixture.untilState(swapped.code, "left");
  expect(await fixture.earned(swapped.code)).toEqual([]);

  const ended = await openedTask();
  later(61 * MINUTE + 1000);
  expect(fixture.channel.join(ended.userId, ended.inviteLink)).toBe(false);
  await fixture.sweep();
  expect([await fixture.stateOf(ended.code), await fixture.open(ended.code)]).toEqual(["lapsed", undefined]);
  // The same campaign may be offered again, with another code.
  const [again] = await ended.bot.tasks(ended.userId);
  expect(again?.code).not.toBe(ended.code);
});

test("while the task bot has lost its rights nothing is offered or paid, and what was held waits", async () => {
  const { bot, code, userId, inviteLink } = await openedTask({ taskHoldDays: 1, taskPaidAt: "kept" });
  fixture.channel.join(userId, inviteLink);
  await fixture.untilState(code, "held");
  fixture.channel.setAdmin(false);
  await fixture.untilApplied();
  expect(await bot.tasks(newUser())).toEqual([]);
  later(24 * 60 * MINUTE + 1000);
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["held", []]);
  fixture.channel.setAdmin(true);
  await fixture.untilApplied();
  expect(await bot.tasks(newUser())).toHaveLength(1);
  later(6 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(code)).toBe("kept");
});

test("of two changes of its rights that are read together after an outage, the later one counts", async () => {
  const { deps, taskBotId, channel, rows } = fixture;
  later(MINUTE);
  // The updates come as by a webhook, so that no node polls one before both exist.
  channel.setAdmin(false);
  const lost = channel.lose();
  later(MINUTE);
  channel.setAdmin(true);
  const gained = channel.lose();
  later(60 * MINUTE);
  const rights = async () => (await rows<{ rights: string }>("select rights from task_channels"))[0]?.rights;
  const batch = readUpdates([lost, gained].map((update, n) => ({ ...update, update_id: 800_000 + n }))) ?? [];
  const [first, second] = batch;
  if (!first || !second) throw new Error("Telegram has no update");
  await applyUpdate(deps, taskBotId, { ...first, isPushed: true });
  expect(await rights()).toBe("not-admin");
  await applyUpdate(deps, taskBotId, { ...second, isPushed: true });
  expect(await rights()).toBe("ready");
  // An older report that is repeated under a new number changes nothing.
  await applyUpdate(deps, taskBotId, { ...first, updateId: 800_002, isPushed: true });
  expect(await rights()).toBe("ready");
});

test("Telegram's pause is kept by all nodes, links that are used up are no offer, and both end", async () => {
  const campaignId = await newCampaign();
  const bot = await fixture.newBot();
  const userId = newUser();
  const [task] = await bot.tasks(userId);
  const code = task?.code ?? "";
  fixture.channel.maxLinks = 0;
  expect(await fixture.open(code)).toBeUndefined();
  fixture.channel.maxLinks = 1000;
  fixture.channel.failNext("createChatInviteLink", new TelegramRefusal(429, "Too Many Requests: retry after 30", 30));
  expect(await fixture.open(code)).toBeUndefined();
  const calls = fixture.channel.calls.length;
  expect(await fixture.open(code, fixture.nodes[0])).toBeUndefined();
  expect(await bot.tasks(newUser())).toEqual([]);
  expect(fixture.channel.calls.slice(calls).filter(({ method }) => method !== "getUpdates")).toEqual([]);
  const [pause] = await fixture.rows<{ seconds: number }>(
    "select extract(epoch from quiet_until - now())::float8 as seconds from task_bots",
  );
  expect(pause?.seconds).toBeGreaterThan(20);
  await fixture.rows("update task_bots set quiet_until = now()");
  expect(await fixture.open(code)).toMatch(/^https:/);
  expect(await fixture.moneyOf(campaignId)).toMatchObject({ charged: 0 });
});

test("eight requests at once get the same offer, and eight openings one link", async () => {
  await newCampaign();
  const bot = await fixture.newBot();
  const userId = newUser();
  const offers = await fixture.allAtOnce((node) => bot.tasks(userId, {}, node));
  const codes = new Set(offers.flat().map(({ code }) => code));
  expect([offers.map((tasks) => tasks.length), codes.size]).toEqual([Array(8).fill(1), 1]);
  const [code = ""] = codes;
  const before = fixture.channel.links.length;
  await fixture.allAtOnce((node) => fixture.open(code, node));
  expect(fixture.channel.links.length - before).toBe(1);
  const links = await fixture.allAtOnce((node) => fixture.open(code, node));
  expect(new Set(links).size).toBe(1);
});

test("a user joins for a campaign once, through whichever of eight bots", async () => {
  const campaignId = await newCampaign();
  const userId = newUser();
  const bots = await Promise.all(Array.from({ length: 8 }, () => fixture.newBot()));
  const codes: string[] = [];
  for (const bot of bots) codes.push((await bot.tasks(userId))[0]?.code ?? "");
  const links = await Promise.all(codes.map((code) => fixture.open(code)));
  for (const link of links) {
    fixture.channel.join(userId, link);
    fixture.channel.leave(userId);
  }
  await fixture.untilApplied();
  const earned = (await Promise.all(codes.map((code) => fixture.earned(code)))).flat();
  expect(earned).toEqual(["task", "task_reversed"]);
  expect(await fixture.moneyOf(campaignId)).toMatchObject({ spent: 0 });
});

test("after a week without updates Telegram numbers the next one anew, perhaps lower, and a join counts as before", async () => {
  const { userId, code, inviteLink } = await openedTask({});
  await fixture.untilApplied();
  await fixture.rows("update task_bots set next_update = 900000000, moved_at = now() - interval '7 days'");
  fixture.channel.join(userId, inviteLink);
  await fixture.untilState(code, "held");
  expect(await fixture.earned(code)).toEqual(["task"]);
});

test("opened tasks never cost more than the budget or the advertiser has, with eight at once", async () => {
  const campaignId = await newCampaign({ totalBudgetMicros: 150_000 });
  const bot = await fixture.newBot();
  const users = Array.from({ length: 8 }, newUser);
  const tasks = await Promise.all(
    users.map(async (userId) => ({ userId, code: (await bot.tasks(userId))[0]?.code ?? "" })),
  );
  const links = await fixture.allAtOnce((node, n) => fixture.open(tasks[n]?.code ?? "", node));
  expect(links.filter((link) => link !== undefined)).toHaveLength(3);
  for (const [n, link] of links.entries()) if (link) fixture.channel.join(users[n] ?? "", link);
  await fixture.untilApplied();
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 150_000, charged: 150_000, refunded: 0 });

  const prepaid = await newCampaign({ newAdvertiser: undefined });
  const [task] = await bot.tasks(newUser());
  expect(task && (await fixture.open(task.code))).toBeUndefined();
  expect(await fixture.moneyOf(prepaid)).toMatchObject({ charged: 0 });
});

test("joins in time that are reported after the end count only while the budgets have room", async () => {
  const campaignId = await newCampaign({ totalBudgetMicros: 150_000 });
  const bot = await fixture.newBot();
  const reports: object[] = [];
  const join = async (isReported: boolean) => {
    const userId = newUser();
    const [task] = await bot.tasks(userId);
    const inviteLink = task && (await fixture.open(task.code));
    if (task === undefined || inviteLink === undefined) throw new Error("the task was not opened");
    fixture.channel.join(userId, inviteLink);
    if (!isReported) reports.push(fixture.channel.lose() ?? {});
    return task.code;
  };
  // Their reports come only after the end of the offers.
  const late = [await join(false), await join(false), await join(false)];
  later(62 * MINUTE);
  await fixture.sweep();
  for (const code of late) expect(await fixture.stateOf(code)).toBe("lapsed");
  const inTime = [await join(true), await join(true)];
  for (const code of inTime) await fixture.untilState(code, "held");
  fixture.channel.giveAgain(...reports, ...reports);
  await fixture.untilApplied();
  const states = await Promise.all(late.map(fixture.stateOf));
  expect(states.toSorted()).toEqual(["held", "lapsed", "lapsed"]);
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 150_000, charged: 150_000, refunded: 0 });
});

test("a channel that asks for requests to join: the user of the code is approved, and no other", async () => {
  const path = `/task-bots/${fixture.taskBotId}/channels`;
  const chat = String(fixture.channel.chat.id);
  await fixture.operate("POST", path, { chat, approvesRequests: true });
  const { code, userId, inviteLink } = await openedTask();
  expect(fixture.channel.links.at(-1)).toMatchObject({ creates_join_request: true, member_limit: undefined });
  const stranger = newUser();
  fixture.channel.join(stranger, inviteLink);
  fixture.channel.join(userId, inviteLink);
  await fixture.untilApplied();
  fixture.channel.failNext("approveChatJoinRequest", new TelegramRefusal(500, "Internal Server Error"));
  await fixture.sweep();
  later(MINUTE);
  await fixture.sweep();
  await fixture.untilState(code, "held");
  expect(
    fixture.channel.calls.filter(
      ({ method, fields }) => method === "approveChatJoinRequest" && fields.user_id === Number(stranger),
    ),
  ).toEqual([]);
  await fixture.operate("POST", path, { chat, approvesRequests: false });
});

test("an offer that nobody used is removed two days later, and a suspended bot's tasks are not opened", async () => {
  const { bot, code, userId } = await openedTask();
  later(62 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(code)).toBe("lapsed");
  later(2 * 24 * 60 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(code)).toBeUndefined();
  const [again] = await bot.tasks(userId);
  await fixture.operate("POST", `/bots/${bot.botId}/suspend`);
  expect(again && (await fixture.open(again.code))).toBeUndefined();
});

test("a bot that does not ask for tasks gets none; a tester's task is free", async () => {
  await newCampaign();
  const silent = await fixture.newBot({ hasTasks: false });
  expect((await silent.post("/tasks", { bot_id: silent.botId, user_tg_id: newUser() })).body).toEqual({
    tasks: [],
    reason: "not-enabled",
  });
  const tester = newUser();
  const { campaignId, code, inviteLink } = await openedTask({}, { testers: [tester, String(latestUser + 1)] });
  fixture.channel.join(String(latestUser), inviteLink);
  await fixture.untilState(code, "held");
  expect(await fixture.rows("select is_test from events where code = $1", [code])).toEqual([{ is_test: true }]);
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 0, charged: 0, refunded: 0 });
});

test("the publisher's package offers tasks, checks one, and reads its events", async () => {
  await newCampaign();
  const { botId, token } = await fixture.newBot({ includeRevenue: true });
  const ads = createAds({ url: fixture.nodes[0].address, token, botId });
  const userId = newUser();
  const [task, ...others] = await ads.tasks({ userId, reference: "daily", language: "en" });
  expect([task, others]).toMatchObject([
    { state: "offered", title: "Secret Garden", holdDays: 7, paidAt: "joined", revenueMicros: 0, currency: "USD" },
    [],
  ]);
  const code = task?.code ?? "";
  fixture.channel.join(userId, await fixture.open(code));
  await fixture.untilState(code, "held");
  expect(await ads.checkTask(code)).toMatchObject({ code, state: "held", reference: "daily" });
  // The list ends before a transaction that has not ended.
  await vi.waitFor(async () =>
    expect((await ads.events()).events).toMatchObject([{ event: "task", code, userId, reference: "daily" }]),
  );
  await expect(ads.checkTask("nothing1")).rejects.toMatchObject({ status: 404 });

  const bot = new Bot<Context & AdsFlavor>("1:telegram", {
    botInfo: { id: 1, is_bot: true, first_name: "Bot", username: "coins_bot" } as never,
  });
  bot.use(adsMiddleware(ads));
  const seen: unknown[] = [];
  bot.on("message", async (ctx) => seen.push((await ctx.ads.tasks({ text: ({ title }) => `+ ${title}` })).keyboard));
  const from = { id: Number(newUser()), is_bot: false, first_name: "Ann" };
  const chat = { id: from.id, type: "private" as const, first_name: "Ann" };
  await bot.handleUpdate({ update_id: 1, message: { message_id: 1, date: 0, from, chat, text: "/tasks" } });
  expect(seen).toMatchObject([
    { inline_keyboard: [[{ text: "+ Secret Garden", url: expect.stringContaining("/task/") }]] },
  ]);
});

test("statistics and lists have the tasks and what was taken back", async () => {
  const { campaignId, bot, code, userId, inviteLink } = await openedTask();
  fixture.channel.join(userId, inviteLink);
  await fixture.untilState(code, "held");
  fixture.channel.leave(userId);
  await fixture.untilState(code, "left");
  await vi.waitFor(async () => {
    while ((await rollUpStatistics(fixture.database)).hasMore);
    const [row] = await fixture.rows<{ tasks: number; refunds: number }>(
      "select sum(tasks)::integer as tasks, sum(refunds)::integer as refunds from stats_sums where campaign_id = $1 and span = 'quarter'",
      [campaignId],
    );
    expect(row).toEqual({ tasks: 1, refunds: 1 });
  });
  const listed = await fixture.operate("GET", `/tasks?campaignId=${campaignId}`);
  expect(listed.tasks).toMatchObject([{ code, userId, state: "left", proof: "link", isPaid: true, isReversed: true }]);
  const ads = createAds({ url: fixture.nodes[0].address, token: bot.token, botId: bot.botId });
  await vi.waitFor(async () =>
    expect((await ads.events()).events.map(({ event }) => event)).toEqual(["task", "task_reversed"]),
  );
});

/** A node whose connection dies behind a statement of its transaction, as when its process is killed there. */
function dyingAfter(step: string): TaskDeps {
  const { database } = fixture.deps;
  const transaction: TaskDeps["database"]["transaction"] = (run) =>
    database.transaction((tx) =>
      run({
        ...tx,
        async run(statement, values) {
          const rows = await tx.run(statement, values);
          if (statement.name === step)
            await tx.run({ name: "", text: "select pg_terminate_backend(pg_backend_pid())" }, []);
          return rows;
        },
      }),
    );
  return { ...fixture.deps, database: { ...database, transaction } };
}

// The last test: from here on no node follows the task bot.
test("retention counts who still is a member after each day, and nobody of whom Telegram reported nothing", async () => {
  const first = await openedTask({ taskHoldDays: 3 });
  const { campaignId, bot } = first;
  const join = async (userId: string, code: string, inviteLink: string | undefined) => {
    fixture.channel.join(userId, inviteLink);
    await fixture.untilState(code, "held");
  };
  await join(first.userId, first.code, first.inviteLink);
  const others: { userId: string; code: string }[] = [];
  for (let n = 0; n < 3; n += 1) {
    const userId = newUser();
    const [task] = await bot.tasks(userId);
    const code = task?.code ?? "";
    await join(userId, code, await fixture.open(code));
    others.push({ userId, code });
  }
  const [early, late] = others;
  const DAY = 24 * 60 * MINUTE;
  later(2 * DAY);
  fixture.channel.leave(early?.userId ?? "");
  await fixture.untilState(early?.code ?? "", "left");
  later(2 * DAY);
  await fixture.sweep();
  expect(await fixture.stateOf(late?.code ?? "")).toBe("kept");
  // A leave after the paid days is counted and changes no money.
  fixture.channel.leave(late?.userId ?? "");
  await fixture.untilApplied();
  expect(await fixture.earned(late?.code ?? "")).toEqual(["task"]);
  later(4 * DAY);
  const sums = await fixture.operate("GET", `/tasks/sums?campaignId=${campaignId}`);
  expect(sums).toEqual({
    states: { kept: 3, left: 1 },
    paid: 4,
    reversed: 1,
    retention: [
      { day: 1, joined: 4, stayed: 4, unknown: 0 },
      { day: 3, joined: 4, stayed: 3, unknown: 0 },
      { day: 7, joined: 4, stayed: 2, unknown: 0 },
    ],
  });
  fixture.channel.setAdmin(false);
  await fixture.untilApplied();
  const { retention } = await fixture.operate("GET", `/tasks/sums?campaignId=${campaignId}`);
  expect(retention).toContainEqual({ day: 7, joined: 4, stayed: 0, unknown: 2 });
  fixture.channel.setAdmin(true);
  await fixture.untilApplied();
});

test("an advertiser sees and checks its own channels, and takes none of others; the operator may hand one over", async () => {
  const { deps, taskBotId, channel, database } = fixture;
  const chat = `https://t.me/c/${String(channel.chat.id).replace("-100", "")}/7`;
  const of = { taskBotId, chat, approvesRequests: false, author: undefined, now: fixture.clock.now };
  const add = (advertiserId: string | undefined, isOperator: boolean) =>
    addTaskChannel(deps, { ...of, advertiserId, isOperator });
  const chatsOf = async (advertiserId: string) =>
    (await listTaskChannels(database, { limit: 10, advertiserId })).channels.map(({ chatId }) => chatId);
  const chatId = String(channel.chat.id);
  // The channel belongs to the operator.
  expect(await add("adv_1", false)).toEqual({ outcome: "taken" });
  expect(await add("adv_1", true)).toMatchObject({ outcome: "added", value: { advertiserId: "adv_1", chatId } });
  expect(await add("adv_2", false)).toEqual({ outcome: "taken" });
  expect(await add("adv_1", false)).toMatchObject({ outcome: "added" });
  expect([await chatsOf("adv_1"), await chatsOf("adv_2")]).toEqual([[chatId], []]);
  const check = { chatId, author: undefined, now: fixture.clock.now };
  expect(await checkTaskChannel(deps, { ...check, advertiserId: "adv_2" })).toBeUndefined();
  expect(await checkTaskChannel(deps, { ...check, advertiserId: "adv_1" })).toMatchObject({ rights: "ready" });
  expect(chatIdIn("@garden_news")).toBe("@garden_news");
  expect(chatIdIn("https://t.me/garden_news/15")).toBe("@garden_news");
});

test("a bot that is started with the code is paid once, when the advertiser's bot reports the very user, and never taken back", async () => {
  const campaignId = await newCampaign({ taskChatId: null, taskStartBot: "garden_bot" });
  const bot = await fixture.newBot();
  const userId = newUser();
  // Without a postback key no start can be reported.
  expect(await bot.tasks(userId)).toEqual([]);
  const { advertiserId } = await fixture.operate("GET", `/campaigns/${campaignId}`);
  const { key } = await fixture.operate("POST", `/advertisers/${advertiserId}/key`);
  const [task] = await bot.tasks(userId);
  expect(task).toMatchObject({ kind: "start", title: "@garden_bot", username: "garden_bot", hold_days: 0 });
  const code = task?.code ?? "";
  const report = async (fields: object, at = fixture.nodes[0]) => {
    const query = new URLSearchParams({ key: String(key), code, user_id: userId, ...fields });
    const answer = await fetch(`${at.address}/postback/v1/starts?${query}`);
    const body = (await answer.json()) as { outcome?: string; error?: { code: string } };
    return body.outcome ?? `${answer.status} ${body.error?.code}`;
  };
  expect(await report({})).toBe("409 NOT_OPENED");
  expect(await fixture.open(code)).toBe(`https://t.me/garden_bot?start=${code}`);
  expect(await fixture.open(code)).toBe(`https://t.me/garden_bot?start=${code}`);
  expect(await report({ key: "pb_wrong" })).toBe("401 UNAUTHORIZED");
  expect(await report({ code: "unknown1" })).toBe("404 UNKNOWN_TASK");
  const outcomes = await fixture.allAtOnce((node) => report({}, node));
  expect(outcomes.toSorted()).toEqual(["recorded", ...Array(7).fill("repeated")].toSorted());
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["kept", ["task"]]);
  expect(await report({ user_id: "1" })).toBe("409 OTHER_USER");
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 50_000, charged: 50_000, refunded: 0 });
  expect(await bot.tasks(userId)).toEqual([]);
  const listed = await fixture.operate("GET", `/tasks?campaignId=${campaignId}`);
  expect(listed.tasks).toMatchObject([{ code, chatId: null, title: "@garden_bot", proof: "postback", isPaid: true }]);

  const passedOn = newUser();
  const [second] = await bot.tasks(passedOn);
  await fixture.open(second?.code ?? "");
  expect((await bot.post(`/tasks/${second?.code}/check`)).body.state).toBe("opened");
  expect(await report({ code: second?.code, user_id: newUser() })).toBe("409 OTHER_USER");
  expect(await report({ code: second?.code, user_id: passedOn })).toBe("409 TASK_OVER");
  const tooLate = newUser();
  const [third] = await bot.tasks(tooLate);
  await fixture.open(third?.code ?? "");
  later(62 * MINUTE);
  await fixture.sweep();
  expect(await report({ code: third?.code, user_id: tooLate })).toBe("410 TASK_TOO_OLD");
  // The bot was started in time while the service was down.
  const startedAt = String(Math.floor(fixture.clock.now.getTime() / 1000) - 3600);
  expect(await report({ code: third?.code, user_id: tooLate, started_at: startedAt })).toBe("recorded");
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 100_000, charged: 100_000, refunded: 0 });
  // An unopened task pays no user who has its code, also after its end.
  const unopened = newUser();
  const [fourth] = await bot.tasks(unopened);
  later(62 * MINUTE);
  await fixture.sweep();
  expect(await fixture.stateOf(fourth?.code ?? "")).toBe("lapsed");
  const inTime = String(Math.floor(fixture.clock.now.getTime() / 1000) - 3600);
  expect(await report({ code: fourth?.code, user_id: unopened, started_at: inTime })).toBe("409 NOT_OPENED");
  expect(await fixture.moneyOf(campaignId)).toMatchObject({ charged: 100_000 });
});

test("by webhook, updates count once in any order, on any node, with the secret alone; the change between both ways loses none", async () => {
  const { channel, taskBotId, nodes } = fixture;
  const campaignId = await newCampaign({ taskHoldDays: 7 });
  const bot = await fixture.newBot();
  const choose = (updatesBy: string) => fixture.operate("POST", `/task-bots/${taskBotId}/updates`, { updatesBy });
  const opened = async () => {
    const userId = newUser();
    const [task] = await bot.tasks(userId);
    const code = task?.code ?? "";
    return { userId, code, inviteLink: await fixture.open(code) };
  };
  const push = async (update: object | undefined, at = nodes[0], secret = channel.webhook?.secretToken ?? "") => {
    const { pathname } = new URL(channel.webhook?.url ?? "https://ads.example/none");
    const answer = await fetch(at.address + pathname, {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
      body: JSON.stringify(update),
    });
    return answer.status;
  };
  if (channel.updates.length > 0) await fixture.untilApplied();
  channel.updates.splice(0);

  expect(await choose("webhook")).toMatchObject({ updatesBy: "webhook", webhookSetAt: expect.any(String) });
  expect(channel.webhook?.secretToken).toMatch(/^[\w-]{43}$/);
  const users = [await opened(), await opened(), await opened(), await opened()];
  for (const { userId, inviteLink } of users) channel.join(userId, inviteLink);
  const [first, second, third, fourth] = channel.updates;
  const states = () => Promise.all(users.map(({ code }) => fixture.stateOf(code)));
  expect([await push(first, nodes[0], "wrong"), await push(first, nodes[0], "")]).toEqual([401, 401]);
  expect(await states()).toEqual(["opened", "opened", "opened", "opened"]);
  // The second update comes first, then the first one eight times in parallel.
  expect(await push(second, nodes[1])).toBe(200);
  expect(await fixture.allAtOnce((node) => push(first, node))).toEqual(Array(8).fill(200));
  expect(await states()).toEqual(["held", "held", "opened", "opened"]);
  expect(await push({ nothing: true })).toBe(200);

  // The answer to the first was lost, and the third was never sent: both are listed again.
  channel.updates.splice(0, 4, ...[first, third, fourth].flatMap((one) => one ?? []));
  expect(await push(fourth)).toBe(200);
  expect(await choose("polling")).toMatchObject({ updatesBy: "polling", webhookSetAt: null });
  expect(channel.webhook).toBeUndefined();
  for (const { code } of users) await fixture.untilState(code, "held");
  await fixture.untilApplied();
  expect(await Promise.all(users.map(({ code }) => fixture.earned(code)))).toEqual(Array(4).fill(["task"]));
  expect(await fixture.moneyOf(campaignId)).toMatchObject({ charged: 200_000, refunded: 0 });
});

test("a webhook that Telegram refuses leaves the bot as it was; while Telegram asks for a pause or is away it is set later", {
  tags: "long",
}, async () => {
  const { channel, taskBotId } = fixture;
  const path = `/task-bots/${taskBotId}/updates`;
  const shown = async () => ((await fixture.operate("GET", "/task-bots")).taskBots as unknown[])[0];
  channel.failNext("setWebhook", new TelegramRefusal(400, "Bad Request: bad webhook: IP address is reserved"));
  await expect(fixture.operate("POST", path, { updatesBy: "webhook" })).rejects.toThrow("IP address is reserved");
  expect(await shown()).toMatchObject({ updatesBy: "polling", webhookFault: null });

  channel.failNext("setWebhook", new TelegramRefusal(429, "Too Many Requests: retry after 30", 30));
  expect(await fixture.operate("POST", path, { updatesBy: "webhook" })).toMatchObject({ webhookSetAt: null });
  expect(channel.webhook).toBeUndefined();
  channel.failNext("setWebhook", new TelegramRefusal(502, "Bad Gateway"));
  await fixture.rows("update task_bots set quiet_until = now(), followed_until = now()");
  await vi.waitFor(async () => expect(await shown()).toMatchObject({ webhookSetAt: expect.any(String) }), {
    timeout: 20_000,
  });
  // Another program sets a webhook: the next check sets this service's again.
  channel.webhook = { url: "https://other.example/", secretToken: "x" };
  await fixture.rows("update task_bots set webhook_set_at = now() - interval '1 hour', followed_until = now()");
  await vi.waitFor(() => expect(channel.webhook?.url).toContain(`/task-bot-updates/${taskBotId}`), { timeout: 20_000 });
  await fixture.operate("POST", path, { updatesBy: "polling" });
  // A remaining webhook would block polling.
  channel.webhook = { url: "https://other.example/", secretToken: "x" };
  await vi.waitFor(() => expect(channel.webhook).toBeUndefined(), { timeout: 20_000 });
});

test("another task bot that is an administrator, too, changes nothing: its reports show a part of the link", async () => {
  const { code, userId, inviteLink } = await openedTask();
  await fixture.rows(
    "insert into task_bots (task_bot_id, username, token, followed_until) values ('5', 'other_bot', '\\x00', 'infinity')",
  );
  fixture.channel.join(userId, `${inviteLink}`);
  const joined = JSON.parse(JSON.stringify(fixture.channel.lose() ?? {}));
  const seen = structuredClone(joined);
  seen.chat_member.invite_link.invite_link = "https://t.me/+link...";
  const deps = { ...fixture.deps, deliveries: { wake() {} } };
  const apply = async (taskBotId: string, update: object) => {
    const [read] = readUpdates([update]) ?? [];
    if (read) await applyUpdate(deps, taskBotId, read);
  };
  await apply("5", seen);
  await apply("5", {
    update_id: 9,
    my_chat_member: { ...joined.chat_member, new_chat_member: { status: "left", user: { id: 5 } } },
  });
  expect(await fixture.stateOf(code)).toBe("opened");
  fixture.channel.giveAgain(joined);
  await fixture.untilState(code, "held");
  const { channels } = await fixture.operate("GET", "/task-channels");
  expect(channels).toMatchObject([{ rights: "ready" }]);
  await fixture.rows("delete from task_bots where task_bot_id = '5'");
});

test("a node that dies between an update and its commit has changed nothing, and the update is applied once", async () => {
  await Promise.all(fixture.loops.map((loop) => loop.stop()));
  const { campaignId, code, userId, inviteLink } = await openedTask();
  const apply = async (steps: readonly string[]) => {
    const [update] = readUpdates(fixture.channel.updates.slice(-1)) ?? [];
    if (update === undefined) throw new Error("Telegram has no update");
    const before = [await fixture.stateOf(code), await fixture.earned(code), await fixture.moneyOf(campaignId)];
    for (const step of steps) {
      await expect(applyUpdate(dyingAfter(step), fixture.taskBotId, update), step).rejects.toThrow();
      expect([await fixture.stateOf(code), await fixture.earned(code), await fixture.moneyOf(campaignId)]).toEqual(
        before,
      );
    }
    await Promise.all(Array.from({ length: 8 }, () => applyUpdate(fixture.deps, fixture.taskBotId, update)));
  };
  const steps = ["tasks.lock-place", "tasks.move-place", "tasks.lock-concerned", "tasks.move", "tasks.make-event"];
  fixture.channel.join(userId, inviteLink);
  await apply(steps);
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["held", ["task"]]);
  fixture.channel.leave(userId);
  await apply([...steps, "tasks.find-paid", "campaigns.refund"]);
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["left", ["task", "task_reversed"]]);
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 0, charged: 50_000, refunded: 50_000 });
});

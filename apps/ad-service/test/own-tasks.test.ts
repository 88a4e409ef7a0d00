import type { OpenTaskResponse, OwnTask } from "@intermission/ad-core/player-task-api";
import { TelegramRefusal } from "@intermission/testing/fake-channels";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launchData } from "./fixtures/launch-fixture.ts";
import { LAUNCHED_BOT, openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";

let fixture: TaskFixture;
let other: Awaited<ReturnType<TaskFixture["newBot"]>>;
const campaigns: string[] = [];
const origin = "https://game.example";

beforeAll(async () => {
  fixture = await openTaskFixture();
  await fixture.newLaunchedBot({ appOrigins: [origin] });
  other = await fixture.newBot();
});
afterAll(() => fixture.close());
afterEach(async () => {
  for (const campaignId of campaigns.splice(0)) await fixture.pause(campaignId);
});

let latestUser = 700_000;
const newUser = () => String(++latestUser);
const HOUR = 3_600_000;
const later = (ms: number) => fixture.setNow(new Date(fixture.clock.now.getTime() + ms));
const initDataOf = (userId: string, at = fixture.clock.now) => launchData(LAUNCHED_BOT, userId, at);
const newCampaign = async (settings: object = {}) => campaigns.push(await fixture.newCampaign(settings));

interface Answer {
  status: number;
  body: {
    tasks?: OwnTask[];
    task?: OwnTask;
    task_grant?: string;
    error?: { code: string };
  } & Partial<OpenTaskResponse>;
}

async function call(path: string, proof: object, { node = 0, botId = LAUNCHED_BOT } = {}): Promise<Answer> {
  const answer = await fetch(`${fixture.nodes[node]?.address}/player/v1/tasks${path}`, {
    method: "POST",
    headers: { origin },
    body: JSON.stringify({ bot_id: botId, ...proof }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer["body"] };
}

/** The list of a user who has just opened it, and the grant for what follows. */
async function listOf(userId: string) {
  const { status, body } = await call("", { init_data: initDataOf(userId) });
  expect(status).toBe(200);
  return { tasks: body.tasks ?? [], proof: { task_grant: body.task_grant } };
}

async function firstOf(userId: string) {
  const { tasks, proof } = await listOf(userId);
  const [task] = tasks;
  if (task === undefined) throw new Error("no task was offered");
  return { task, proof };
}

test("a user opens, joins, is paid, leaves and loses it, and sees each step; the proof stays on the server", async () => {
  await newCampaign({ taskHoldDays: 7 });
  const userId = newUser();
  const { task, proof } = await firstOf(userId);
  expect(task).toMatchObject({ state: "offered", kind: "join", hold_days: 7, payment: "none" });
  const opened = await call(`/${task.code}/open`, proof, { node: 1 });
  expect(opened.body).toMatchObject({ outcome: "opened", task: { state: "opened" } });
  expect(opened.body.link).toMatch(/^https:\/\/t\.me\/\+link/);
  expect((await call(`/${task.code}/check`, proof)).body.task).toMatchObject({ state: "opened" });

  fixture.channel.join(userId, opened.body.link);
  await fixture.untilState(task.code, "held");
  const held = (await call("", proof)).body.tasks;
  expect(held).toMatchObject([{ code: task.code, state: "held", payment: "paid" }]);
  expect(Date.parse(held?.[0]?.held_until ?? "")).toBe(fixture.clock.now.getTime() + 7 * 24 * HOUR);
  const answer = JSON.stringify(held);
  for (const secret of ["proof", "price", "revenue", "campaign", "link", "void"]) expect(answer).not.toContain(secret);

  fixture.channel.leave(userId);
  await fixture.untilState(task.code, "left");
  expect((await call("", proof)).body.tasks).toMatchObject([{ state: "left", payment: "reversed" }]);
  expect((await call(`/${task.code}/open`, proof)).body).toMatchObject({ outcome: "over" });
});

test("no user sees, opens or checks another one's task, nor one of another bot", async () => {
  await newCampaign();
  const { task } = await firstOf(newUser());
  const stranger = await listOf(newUser());
  expect(stranger.tasks.map(({ code }) => code)).not.toContain(task.code);
  const [ofOtherBot] = await other.tasks(newUser());
  for (const code of [task.code, ofOtherBot?.code, "ABCDEFGHJKLMNPQRST"])
    for (const path of ["open", "check"])
      expect(await call(`/${code}/${path}`, stranger.proof)).toMatchObject({
        status: 404,
        body: { error: { code: "TASK_UNKNOWN" } },
      });
  expect(await fixture.stateOf(task.code)).toBe("offered");

  // The grant is of its bot, and says its user: no field of a request names one.
  expect((await call("", stranger.proof, { botId: other.botId })).body.error?.code).toBe("INIT_DATA_INVALID");
  expect((await call("", { ...stranger.proof, user_tg_id: "1" })).body.tasks).toHaveLength(1);
  const forged = initDataOf("1")
    .replace(/hash=./, "hash=0")
    .replace("Ada", "Eve");
  expect(await call("", { init_data: forged })).toMatchObject({ status: 401 });
  expect(await call("", { ...stranger.proof, init_data: forged })).toMatchObject({ status: 400 });
});

test("a list stays usable for twelve hours, and launch data of more than an hour opens none", async () => {
  const userId = newUser();
  const begun = fixture.clock.now;
  const { proof } = await listOf(userId);
  later(2 * HOUR);
  expect(await call("", proof)).toMatchObject({ status: 200 });
  expect((await call("", { init_data: initDataOf(userId, begun) })).body.error?.code).toBe("INIT_DATA_EXPIRED");
  later(10 * HOUR);
  expect(await call("", proof)).toMatchObject({ status: 401, body: { error: { code: "INIT_DATA_EXPIRED" } } });
});

test("in a frame of the publisher's own mini-app, the app grant shows who the user is, until its origin is removed", async () => {
  await newCampaign();
  const userId = newUser();
  const granted = await fetch(`${fixture.nodes[0]?.address}/player/v1/app-grants`, {
    method: "POST",
    headers: { origin },
    body: JSON.stringify({ bot_id: LAUNCHED_BOT, init_data: initDataOf(userId) }),
  });
  const { app_grant } = (await granted.json()) as { app_grant: string };
  const { status, body } = await call("", { app_grant });
  expect(status).toBe(200);
  expect(body.tasks).toHaveLength(1);
  // A longer one would outlive the origin.
  expect(body.task_grant).toBeUndefined();
});

test("a join whose report is lost is shown as being confirmed once its user checks, and counts a minute later", async () => {
  await newCampaign();
  const userId = newUser();
  const { task, proof } = await firstOf(userId);
  await call(`/${task.code}/open`, proof);
  fixture.channel.addSilently(userId);
  expect((await call(`/${task.code}/check`, proof)).body.task).toMatchObject({ state: "opened", is_confirming: true });
  later(61_000);
  await fixture.sweep();
  expect((await call(`/${task.code}/check`, proof)).body.task).toMatchObject({ state: "held", payment: "paid" });
});

test("while Telegram does not answer, a check says nothing new, and a link is asked for again", async () => {
  await newCampaign();
  const { task, proof } = await firstOf(newUser());
  fixture.channel.failNext("createChatInviteLink", new TelegramRefusal(500, "Internal Server Error"));
  expect((await call(`/${task.code}/open`, proof)).body).toMatchObject({ outcome: "unavailable" });
  expect((await call(`/${task.code}/open`, proof)).body).toMatchObject({ outcome: "opened" });
  fixture.channel.failNext("getChatMember", new TelegramRefusal(500, "Internal Server Error"));
  expect((await call(`/${task.code}/check`, proof)).body.task).toMatchObject({ state: "opened", payment: "none" });
});

test("eight lists at once on two nodes make one offer, and eight openings one link", async () => {
  await newCampaign();
  const userId = newUser();
  const init_data = initDataOf(userId);
  const both = (n: number) => ({ node: n % 2 });
  const lists = await Promise.all(Array.from({ length: 8 }, (_, n) => call("", { init_data }, both(n))));
  const codes = new Set(lists.flatMap(({ body }) => (body.tasks ?? []).map(({ code }) => code)));
  expect(codes.size).toBe(1);
  const [code] = codes;
  const before = fixture.channel.links.length;
  const opened = await Promise.all(Array.from({ length: 8 }, (_, n) => call(`/${code}/open`, { init_data }, both(n))));
  expect(opened.some(({ body }) => body.outcome === "opened")).toBe(true);
  expect(fixture.channel.links).toHaveLength(before + 1);
});

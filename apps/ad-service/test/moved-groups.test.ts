import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { moveChannel } from "../src/tasks/call-in-chat.ts";
import { openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";

let fixture: TaskFixture;
const campaigns: string[] = [];
let latestUser = 850_000;
const newUser = () => String(++latestUser);
const DAY = 24 * 3_600_000;
const later = (ms: number) => fixture.setNow(new Date(fixture.clock.now.getTime() + ms));

beforeAll(async () => {
  fixture = await openTaskFixture();
});
afterAll(() => fixture.close());
afterEach(async () => {
  for (const campaignId of campaigns.splice(0)) await fixture.pause(campaignId);
});

/** A user who has joined, and is paid when the day is over. */
async function heldTask() {
  const taskChatId = String(fixture.channel.chat.id);
  campaigns.push(await fixture.newCampaign({ taskHoldDays: 1, taskPaidAt: "kept", taskChatId }));
  const bot = await fixture.newBot();
  const userId = newUser();
  const [task] = await bot.tasks(userId);
  if (task === undefined) throw new Error("no task was offered");
  fixture.channel.join(userId, await fixture.open(task.code));
  await fixture.untilState(task.code, "held");
  return { bot, userId, code: task.code };
}

/** Every id under which the group is stored. */
const idsOf = async () =>
  (
    await fixture.rows<{ id: string }>(
      `select chat_id as id from task_channels union select chat_id from tasks union select task_chat_id from campaigns`,
    )
  ).map(({ id }) => id);

test("a group that becomes a supergroup keeps its tasks: Telegram's next answer changes the id everywhere, with eight at once", async () => {
  const { bot, code, userId } = await heldTask();
  const from = String(fixture.channel.chat.id);
  const to = "-1009876543210";
  const { taskBotId, database } = fixture;
  // Between these two reports, nothing is offered.
  fixture.channel.setAdmin(false);
  fixture.channel.setAdmin(true);
  await fixture.untilApplied();
  const leaving = newUser();
  const [task] = await bot.tasks(leaving);
  fixture.channel.join(leaving, await fixture.open(task?.code ?? ""));
  await fixture.untilState(task?.code ?? "", "held");
  const old = { ...fixture.channel.chat };
  fixture.channel.migrate(Number(to));

  const users = Array.from({ length: 8 }, newUser);
  await Promise.all(users.map((user, n) => bot.tasks(user, {}, fixture.nodes[n % 2])));
  expect(await idsOf()).toEqual([to]);
  expect(await moveChannel(database, { taskBotId, from, to, rights: "ready" })).toBe(false);
  expect(await fixture.rows("select rights from task_channels")).toEqual([{ rights: "ready" }]);

  // A leave that names the earlier id counts, too.
  fixture.channel.addSilently(leaving, "left");
  const user = { id: Number(leaving), is_bot: false, first_name: "Ada" };
  const date = Math.floor(fixture.clock.now.getTime() / 1000);
  const [old_chat_member, new_chat_member] = ["member", "left"].map((status) => ({ status, user }));
  fixture.channel.giveAgain({ chat_member: { chat: old, from: user, date, old_chat_member, new_chat_member } });
  await fixture.untilState(task?.code ?? "", "left");

  for (const { campaigns: snapshot } of fixture.nodes) await snapshot.refresh();
  const joining = newUser();
  const [next] = await bot.tasks(joining);
  fixture.channel.join(joining, await fixture.open(next?.code ?? ""));
  await fixture.untilState(next?.code ?? "", "held");
  later(DAY + 1000);
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["kept", ["task"]]);
  expect(userId).not.toBe(joining);
  expect(await fixture.earned(next?.code ?? "")).toEqual(["task"]);
});

test("what is held ends also if the end of its days is the first that asks; a supergroup that was added before takes it", async () => {
  const { code } = await heldTask();
  const [from, to] = [String(fixture.channel.chat.id), "-1001112223334"];
  const { taskBotId, database } = fixture;
  const move = { from, to, rights: "ready" as const };
  expect(await moveChannel(database, { ...move, taskBotId: "7000000010" })).toBe(false);
  fixture.channel.migrate(Number(to));
  await fixture.operate("POST", `/task-bots/${taskBotId}/channels`, { chat: to });
  later(DAY + 1000);
  await fixture.sweep();
  expect([await fixture.stateOf(code), await fixture.earned(code)]).toEqual(["kept", ["task"]]);
  expect(await idsOf()).toEqual([to]);
});

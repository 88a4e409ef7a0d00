import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";

let fixture: TaskFixture;
const campaigns: string[] = [];
let latestUser = 800_000;
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

/** A task of a new campaign, whose user has opened it. */
async function openedTask(settings: object = {}) {
  const campaignId = await fixture.newCampaign(settings);
  campaigns.push(campaignId);
  const bot = await fixture.newBot();
  const userId = newUser();
  const [task] = await bot.tasks(userId);
  if (task === undefined) throw new Error("no task was offered");
  return { campaignId, bot, userId, code: task.code, inviteLink: await fixture.open(task.code) };
}

test.each(["joined", "kept"] as const)(
  "whom an administrator removes within the days keeps the reward, and the advertiser pays (paid when %s)",
  async (taskPaidAt) => {
    const { campaignId, code, userId, inviteLink } = await openedTask({ taskPaidAt, taskHoldDays: 7 });
    fixture.channel.join(userId, inviteLink);
    await fixture.untilState(code, "held");
    later(DAY);
    fixture.channel.remove(userId);
    fixture.channel.giveAgain(...fixture.channel.updates.slice(-1));
    await fixture.untilState(code, "kept");
    await fixture.untilApplied();
    later(8 * DAY);
    await fixture.sweep();
    expect(await fixture.earned(code)).toEqual(["task"]);
    expect(await fixture.moneyOf(campaignId)).toEqual({ spent: 50_000, charged: 50_000, refunded: 0 });
  },
);

test("a ban whose report was lost takes nothing back, and pays nothing more", async () => {
  const paid = await openedTask({ taskHoldDays: 1 });
  await fixture.pause(paid.campaignId);
  const unpaid = await openedTask({ taskHoldDays: 1, taskPaidAt: "kept" });
  for (const { code, userId, inviteLink } of [paid, unpaid]) {
    fixture.channel.join(userId, inviteLink);
    await fixture.untilState(code, "held");
    fixture.channel.addSilently(userId, "kicked");
  }
  later(DAY + 1000);
  await fixture.sweep();
  expect([await fixture.stateOf(paid.code), await fixture.earned(paid.code)]).toEqual(["kept", ["task"]]);
  expect([await fixture.stateOf(unpaid.code), await fixture.earned(unpaid.code)]).toEqual(["left", []]);
});

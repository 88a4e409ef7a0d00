// @module-tag long
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";

const script = fileURLToPath(new URL("fixtures/run-tasks-process.ts", import.meta.url));
const USERS = 24;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let fixture: TaskFixture;
let latestUser = 700_000;
const children: ChildProcess[] = [];
/** Where nodes take postbacks, the latest one last. */
const addresses: string[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await fixture.close();
});

/** Two nodes that follow the task bot and end what is due, both as if they had its lease. */
async function startNode(): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, NOW: fixture.clock.now.toISOString(), ...fixture.processEnv };
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [printed] = await once(child.stdout, "data");
  addresses.push(String(printed).trim());
  return child;
}

/** Kills and restarts the nodes, one after the other, while `work` goes on. What a killed one had claimed is due a minute later. */
async function underKills(work: () => Promise<void>, isDone: () => Promise<boolean>): Promise<number> {
  let kills = 0;
  let nodes = [await startNode(), await startNode()];
  const working = work();
  for (const end = Date.now() + 120_000; !(await isDone()); ) {
    if (Date.now() > end) throw new Error(`not done after ${kills} kills`);
    await wait(50 + Math.random() * 300);
    const [next, ...others] = nodes;
    if (next === undefined) throw new Error("no node runs");
    const ended = once(next, "exit");
    next.kill("SIGKILL");
    await ended;
    kills += 1;
    fixture.setNow(new Date(fixture.clock.now.getTime() + 61_000));
    nodes = [...others, await startNode()];
  }
  await working;
  for (const node of nodes) node.kill("SIGKILL");
  return kills;
}

const countOf = async (condition: string): Promise<number> =>
  (await fixture.rows<{ count: number }>(`select count(*)::integer as count from tasks where ${condition}`))[0]
    ?.count ?? 0;
const earnedBy = (users: readonly { code: string }[]) => Promise.all(users.map(({ code }) => fixture.earned(code)));

test.each(["joined", "kept"] as const)(
  "while nodes are killed, who joins and stays is paid once, who leaves pays back once, others never (paid when %s)",
  async (taskPaidAt) => {
    fixture = await openTaskFixture();
    await Promise.all(fixture.loops.map((loop) => loop.stop()));
    const campaignId = await fixture.newCampaign({ taskPaidAt });
    const bot = await fixture.newBot({ codeLifetimeSeconds: 86_400 });
    const { channel } = fixture;
    const users = await Promise.all(
      Array.from({ length: USERS }, async () => {
        const userId = String(++latestUser);
        const [task] = await bot.tasks(userId);
        const code = task?.code ?? "";
        return { userId, code, inviteLink: await fixture.open(code) };
      }),
    );
    const ofKind = (kind: number) => users.filter((_, n) => n % 3 === kind);
    const [staying, leaving, passing] = [ofKind(0), ofKind(1), ofKind(2)];

    const joins = async () => {
      for (const [n, { userId, inviteLink }] of users.entries()) {
        if (n % 3 === 2) channel.join(String(900_000 + n), inviteLink);
        else channel.join(userId, inviteLink);
        await wait(Math.random() * 60);
        if (n % 3 === 1) channel.leave(userId);
        // Telegram sends again what a crash kept it from having confirmed, and more.
        if (n % 4 === 0) channel.giveAgain(...channel.updates.slice(-1));
      }
    };
    const kills = await underKills(
      joins,
      async () =>
        (await countOf("state in ('offered', 'opened')")) === 0 && (await countOf("state = 'held'")) === staying.length,
    );
    expect(kills).toBeGreaterThan(0);
    const atOnce = taskPaidAt === "joined";
    expect(await earnedBy(staying)).toEqual(staying.map(() => (atOnce ? ["task"] : [])));
    expect(await earnedBy(leaving)).toEqual(leaving.map(() => (atOnce ? ["task", "task_reversed"] : [])));
    expect(await earnedBy(passing)).toEqual(passing.map(() => []));

    fixture.setNow(new Date(fixture.clock.now.getTime() + 8 * DAY));
    // Telegram does not say who is a member: that is unknown, and not paid.
    channel.setAdmin(false);
    let rounds = 0;
    await underKills(
      async () => {},
      async () => ++rounds > 4,
    );
    expect(await countOf("state = 'held'")).toBe(staying.length);
    if (!atOnce) expect(await earnedBy(staying)).toEqual(staying.map(() => []));

    channel.setAdmin(true);
    fixture.setNow(new Date(fixture.clock.now.getTime() + 10 * MINUTE));
    await underKills(
      async () => {},
      async () => (await countOf("state = 'kept'")) === staying.length,
    );
    expect(await earnedBy(staying)).toEqual(staying.map(() => ["task"]));
    expect(await earnedBy(passing)).toEqual(passing.map(() => []));
    const price = 50_000;
    const reversed = atOnce ? leaving.length : 0;
    expect(await fixture.moneyOf(campaignId)).toEqual({
      spent: staying.length * price,
      charged: (staying.length + reversed) * price,
      refunded: reversed * price,
    });
  },
);

test("while nodes are killed, a bot that is started is paid once however often its advertiser's bot reports it, and others never", async () => {
  fixture = await openTaskFixture();
  await Promise.all(fixture.loops.map((loop) => loop.stop()));
  const campaignId = await fixture.newCampaign({ taskChatId: null, taskStartBot: "garden_bot" });
  const { advertiserId } = await fixture.operate("GET", `/campaigns/${campaignId}`);
  const { key } = await fixture.operate("POST", `/advertisers/${advertiserId}/key`);
  const bot = await fixture.newBot({ codeLifetimeSeconds: 86_400 });
  const users = await Promise.all(
    Array.from({ length: USERS }, async () => {
      const userId = String(++latestUser);
      const [task] = await bot.tasks(userId);
      const code = task?.code ?? "";
      expect(await fixture.open(code)).toBe(`https://t.me/garden_bot?start=${code}`);
      return { userId, code };
    }),
  );
  const [started, foreign] = [users.filter((_, n) => n % 2 === 0), users.filter((_, n) => n % 2 === 1)];
  const answers: string[] = [];

  /** As the advertiser's bot: again, until a node has answered; and once more. */
  async function report(code: string, userId: string): Promise<void> {
    const query = new URLSearchParams({ key: String(key), code, user_id: userId });
    for (let answered = 0; answered < 2; ) {
      // Either of the two that run; the older one is killed next.
      const address = addresses.slice(-2)[Math.floor(Math.random() * 2)];
      const answer = await fetch(`${address}/postback/v1/starts?${query}`).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) {
        answered += 1;
        answers.push(await answer.text());
      }
      await wait(Math.random() * 40);
    }
  }
  let isReported = false;
  const kills = await underKills(
    async () => {
      await Promise.all([
        ...started.map(({ code, userId }) => report(code, userId)),
        ...foreign.map(({ code }, n) => report(code, String(950_000 + n))),
      ]);
      isReported = true;
    },
    async () => isReported,
  );
  expect(kills).toBeGreaterThan(0);
  expect(answers.filter((text) => text.includes('"repeated"')).length).toBeGreaterThanOrEqual(started.length);
  expect(await earnedBy(started)).toEqual(started.map(() => ["task"]));
  expect(await earnedBy(foreign)).toEqual(foreign.map(() => []));
  expect(await countOf("state = 'kept'")).toBe(started.length);
  const price = 50_000 * started.length;
  expect(await fixture.moneyOf(campaignId)).toEqual({ spent: price, charged: price, refunded: 0 });
});

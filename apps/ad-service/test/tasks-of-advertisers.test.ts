import { operatorRequest } from "@intermission/operator-api/operator-request";
import type { Database } from "@intermission/postgres/open-database";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listTasks } from "../src/tasks/list-tasks.ts";
import { addTaskChannel, MAX_CHANNELS } from "../src/tasks/task-channels.ts";
import { taskUpdateRoutes } from "../src/tasks/update-routes.ts";
import { openTaskFixture, type TaskFixture } from "./fixtures/task-fixture.ts";
import { signInAdvertiser } from "./sign-in-advertiser.ts";

let fixture: TaskFixture;
beforeAll(async () => {
  fixture = await openTaskFixture();
});
afterAll(() => fixture.close());

async function newAdvertiser(name: string) {
  const { advertiserId } = await fixture.operate("POST", "/advertisers", { name });
  const caller = await signInAdvertiser(fixture.database, {
    advertiser: name,
    now: fixture.clock.now,
    // Telegram calls only https addresses.
    origin: "https://ads.test",
  });
  const send = (request: Parameters<TaskFixture["send"]>[1], node = fixture.nodes[0]) =>
    fixture.send(node, request, caller);
  return { advertiserId: String(advertiserId), send };
}

/** Adds a channel to Telegram in which the task bot is an administrator. */
function newChannel(): string {
  const chat = { id: -1001234560000 - fixture.channel.otherChats.length, type: "channel", title: "More" };
  fixture.channel.otherChats.push(chat);
  return String(chat.id);
}

const countChannels = async (of: string) => {
  const text = "select count(*)::integer as count from task_channels where chat_id = $1 or advertiser_id = $1";
  return (await fixture.rows<{ count: number }>(text, [of]))[0]?.count;
};

test("an advertiser adds only a channel in which the task bot may invite users, and so claims no other's", async () => {
  const { advertiserId, send } = await newAdvertiser("Garden");
  const chat = newChannel();
  const add = () =>
    send(
      operatorRequest("addTaskChannel", {
        params: { taskBotId: fixture.taskBotId },
        query: { advertiser: advertiserId },
        body: { chat },
      }),
    );
  fixture.channel.setAdmin(false);
  const refused = await add();
  expect([refused.status, refused.body.error?.code]).toEqual([409, "CHANNEL_NOT_READY"]);
  expect(await countChannels(chat)).toBe(0);
  fixture.channel.setAdmin(true);
  expect(await add()).toMatchObject({ status: 201, body: { advertiserId, rights: "ready" } });
});

test("of eight channels at once, an advertiser's bound lets in what has room; a known one is added again", async () => {
  const { advertiserId } = await newAdvertiser("Bound");
  await fixture.rows(
    `insert into task_channels (chat_id, task_bot_id, title, rights, checked_at, advertiser_id)
     select '-2000' || n, $1, 'Full', 'ready', now(), $2 from generate_series(1, $3::integer) as n`,
    [fixture.taskBotId, advertiserId, MAX_CHANNELS - 2],
  );
  const chats = Array.from({ length: 8 }, newChannel);
  const of = { taskBotId: fixture.taskBotId, approvesRequests: false, author: undefined, now: fixture.clock.now };
  const add = (chat: string) => addTaskChannel(fixture.deps, { ...of, chat, advertiserId, isOperator: false });
  const outcomes = (await Promise.all(chats.map(add))).map(({ outcome }) => outcome);
  expect(outcomes.toSorted()).toEqual([...Array(2).fill("added"), ...Array(6).fill("too-many")]);
  expect(await countChannels(advertiserId)).toBe(MAX_CHANNELS);
  expect((await add(chats[outcomes.indexOf("added")] ?? "")).outcome).toBe("added");
});

test("an advertiser asks Telegram so often, and the operator is not held back by it", async () => {
  const { advertiserId, send } = await newAdvertiser("Busy");
  const request = operatorRequest("addTaskChannel", {
    params: { taskBotId: fixture.taskBotId },
    query: { advertiser: advertiserId },
    body: { chat: newChannel() },
  });
  const { body } = await send(request);
  const check = operatorRequest("checkTaskChannel", {
    params: { chatId: String(body.chatId) },
    query: { advertiser: advertiserId },
  });
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) statuses.push((await send(n % 2 === 0 ? check : request)).status);
  expect(new Set(statuses.slice(0, 9))).toEqual(new Set([200, 201]));
  expect(new Set(statuses.slice(9))).toEqual(new Set([429]));
  expect((await fixture.send(fixture.nodes[0], check)).status).toBe(200);
});

test("an advertiser may not look for tasks by a user of a publisher", async () => {
  const { advertiserId, send } = await newAdvertiser("Curious");
  const query = { advertiser: advertiserId };
  expect((await send(operatorRequest("listTasks", { query }))).status).toBe(200);
  const byUser = await send(operatorRequest("listTasks", { query: { ...query, userId: "501" } }));
  expect([byUser.status, byUser.body.error?.code]).toEqual([403, "FORBIDDEN"]);
});

test("the newest tasks of a bot are read from their index", async () => {
  await fixture.rows(
    `insert into tasks (code, bot_id, user_id, campaign_id, chat_id, price_micros, hold_days, paid_at, state, was_out,
       offered_at, expires_at)
     select 'plan' || n, (n % 200)::text, n::text, 'cmp_plan', '-1001', 5000, 7, 'joined', 'lapsed', true,
       now() - n * interval '1 minute', now() from generate_series(1, 20000) as n`,
  );
  await fixture.rows("analyze tasks");
  const lines: string[] = [];
  const explaining: Database = {
    ...fixture.database,
    async run<Row>({ text }: { text: string }, values: readonly unknown[]) {
      const plan = await fixture.database.run<{ "QUERY PLAN": string }>({ name: "", text: `explain ${text}` }, values);
      lines.push(...plan.map((line) => line["QUERY PLAN"]));
      return [] as Row[];
    },
  };
  await listTasks(explaining, { botId: "7", limit: 20 });
  expect(lines.join("\n")).toContain("tasks_of_bot");
  expect(lines.join("\n")).not.toContain("Sort");
  await fixture.rows("delete from tasks where campaign_id = 'cmp_plan'");
});

test("a flood of updates from one address is refused without a look into the database", async () => {
  let reads = 0;
  const { database } = fixture;
  const counting: Database = {
    ...database,
    run(statement, values) {
      if (statement.name === "tasks.read-bot") reads += 1;
      return database.run(statement, values);
    },
  };
  const app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
  taskUpdateRoutes(app, { ...fixture.deps, database: counting });
  const send = () => app.inject({ method: "POST", url: `/task-bot-updates/${fixture.taskBotId}`, payload: {} });
  const first = await send();
  expect(first.statusCode).toBe(401);
  for (let n = 0; n < 500; n += 1) await send();
  const before = reads;
  expect((await send()).statusCode).toBe(429);
  expect(reads).toBe(before);
  await app.close();
});

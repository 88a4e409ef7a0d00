import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { createLogger } from "@intermission/server/logger";
import { createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";
import { ledgerHint } from "./watch-rewards.ts";

const logger = createLogger({ level: "silent", name: "test" });

describe.runIf(process.env.TEST_DATABASE_URL)("several nodes on one PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof createServerDatabase>>;
  let databases: Database[];
  let nodes: TestApi[];
  let made = 0;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await createServerDatabase();
    const options = { databaseUrl: server.url, dataDirectory: "unused", schema: "api", migrations };
    databases = await Promise.all([1, 2, 3].map(() => openDatabase(options)));
    nodes = await Promise.all(databases.slice(0, 2).map((database) => startTestApi(database)));
  });
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all(databases.map((database) => database.close()));
    await server.drop();
  });

  const nodeAt = (index: number) => nodes[index] ?? expect.fail(`no node ${index}`);
  const databaseAt = (index: number) => databases[index] ?? expect.fail(`no database ${index}`);
  const earn = async (node: TestApi) => {
    made += 1;
    const event = { event: "rewarded", user_tg_id: String(made), event_id: `evt_${made}`, code: `code${made}` };
    expect((await node.deliver(event)).status).toBe(200);
    return event.event_id;
  };
  const killListeners = () =>
    databaseAt(2).run<{ killed: boolean }>(
      {
        name: "test-kill-listeners",
        text: `select pg_terminate_backend(pid) as killed from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`,
      },
      [],
    );

  test("an entry recorded on one node reaches a watch on another, in order and once", async () => {
    const from = (await nodeAt(1).client().rewards.cursor.query()).cursor;
    const seen: (string | null)[] = [];
    const watch = nodeAt(1).watch(from, ({ eventId }) => seen.push(eventId));
    ends.push(watch.stop);
    await watch.isStarted;
    const earned: string[] = [];
    for (let index = 0; index < 10; index++) earned.push(await earn(nodeAt(0)));
    await vi.waitFor(() => expect(seen).toEqual(earned), { timeout: 20_000 });
    await nodeAt(0).client().rewards.spend.mutate({ userId: "1", amount: 4, idempotencyKey: "k" });
    await vi.waitFor(() => expect(seen).toEqual([...earned, null]), { timeout: 20_000 });
  });

  test("of eight spends at once on two nodes, one key takes units once, and other keys take no more than there is", async () => {
    await earn(nodeAt(0));
    const userId = String(made);
    const spend = (n: number, idempotencyKey: string) =>
      nodeAt(n % 2)
        .client()
        .rewards.spend.mutate({ userId, amount: 4, idempotencyKey });
    const eight = (keyOf: (n: number) => string) => Promise.all([...Array(8).keys()].map((n) => spend(n, keyOf(n))));
    const same = await eight(() => "same");
    expect(new Set(same.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(same[0]).toMatchObject({ outcome: "spent", balance: 6 });
    const others = await eight((n) => `order-${n}`);
    expect(others.map(({ outcome }) => outcome).toSorted()).toEqual([...Array(7).fill("insufficient"), "spent"]);
  });

  test("of a task's webhooks and its reversal's, four times each at once on two nodes, each counts once", async () => {
    for (let round = 0; round < 5; round++) {
      made += 1;
      const [userId, code] = [String(made), `task${made}`];
      const eventOf = (event: string) => ({ event, user_tg_id: userId, event_id: `evt_${event}_${made}`, code });
      const arrivals = [...Array(8).keys()].map((n) => eventOf(n % 4 < 2 ? "task" : "task_reversed"));
      const answers = await Promise.all(arrivals.map((event, n) => nodeAt(n % 2).deliver(event)));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      const { entries } = await nodeAt(0).client().rewards.list.query({ userId });
      const outcomes = new Map(entries.map(({ event, amount, reason }) => [event, reason ?? amount]));
      expect(entries).toHaveLength(2);
      // Whichever came first.
      expect([
        { task: 5, task_reversed: -5 },
        { task: "task-reversed", task_reversed: "task-not-paid" },
      ]).toContainEqual(Object.fromEntries(outcomes));
      expect(await nodeAt(1).client().rewards.balance.query({ userId })).toEqual({ balance: 0 });
    }
  });

  test("the other node is woken by the notice, not by its timer", async () => {
    const hint = await ledgerHint(databaseAt(2), logger);
    ends.push(hint.stop);
    const isHinted = hint.wait(60_000, new AbortController().signal);
    await earn(nodeAt(0));
    expect(await isHinted).toBe(true);
  });

  test("a node sends 20 notices a second at most, and the last recording is among them", async () => {
    // Those of other nodes, about what was recorded before, may still come.
    const noticesOf = new Map<string, number[]>();
    const hear = (node: string) => noticesOf.set(node, [...(noticesOf.get(node) ?? []), performance.now()]);
    ends.push(await databaseAt(2).listen("recorded", hear));
    const busiest = () => [...noticesOf.values()].toSorted((one, other) => other.length - one.length)[0] ?? [];
    const hint = await ledgerHint(databaseAt(0), logger);
    ends.push(hint.stop);
    const startedAt = performance.now();
    let lastAt = startedAt;
    while (lastAt - startedAt < 1000) {
      hint.announce();
      lastAt = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(busiest().at(-1)).toBeGreaterThan(lastAt - 1));
    const notices = busiest();
    const seconds = ((notices.at(-1) ?? 0) - startedAt) / 1000;
    expect(notices.length).toBeGreaterThan(1);
    expect(notices.length).toBeLessThanOrEqual(20 * seconds + 2);
  });

  test("while the listening connections break repeatedly, nothing is missed and nothing is repeated", async () => {
    const from = (await nodeAt(1).client().rewards.cursor.query()).cursor;
    const seen: (string | null)[] = [];
    const watch = nodeAt(1).watch(from, ({ eventId }) => seen.push(eventId));
    ends.push(watch.stop);
    await watch.isStarted;
    const earned: string[] = [];
    let killed = 0;
    for (let index = 0; index < 30; index++) {
      if (index % 5 === 2) killed += (await killListeners()).length;
      earned.push(await earn(nodeAt(index % 2)));
    }
    expect(killed).toBeGreaterThan(0);
    // An event of the previous test may appear after the cursor, if a transaction of another test was open meanwhile.
    const seenOfThese = () => seen.filter((eventId) => eventId !== null && earned.includes(eventId));
    await vi.waitFor(() => expect(seenOfThese()).toHaveLength(earned.length), { timeout: 20_000 });
    expect(seenOfThese().toSorted()).toEqual(earned.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("a watch that continues on another node after its own has crashed misses nothing and repeats nothing", {
    tags: "long",
  }, async () => {
    const dying = await startTestApi(databaseAt(2));
    const from = (await dying.client().rewards.cursor.query()).cursor;
    const seen: (string | null)[] = [];
    const watch = dying.watch(from, ({ eventId }) => seen.push(eventId));
    ends.push(watch.stop);
    const earned = [await earn(nodeAt(0))];
    await vi.waitFor(() => expect(seen).toEqual(earned), { timeout: 20_000 });
    await dying.stop();
    earned.push(await earn(nodeAt(0)));
    const heir = await startTestApi(databaseAt(2), { port: Number(new URL(dying.url).port) });
    ends.push(() => heir.stop());
    earned.push(await earn(nodeAt(1)));
    await vi.waitFor(() => expect(seen).toEqual(earned), { timeout: 20_000 });
  });
});

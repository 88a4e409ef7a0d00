import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A running companion API with one bot: a view pays 10, a followed link 3, a task 5, and a code pays once. */
interface CompanionUnderTest {
  readonly url: string;
  /** The key of the bot's backend. */
  readonly apiKey: string;
  readonly botId: string;
  /** The user of a code earns an event. Resolves when it is in the ledger. */
  earn(code: string, event: "rewarded" | "direct_link", launch?: { readonly startParam?: string }): Promise<void>;
  /** A task's user joins, or leaves too early. Resolves when it is in the ledger. */
  earnTask(event: "task" | "task_reversed", task: { readonly userId: string; readonly code: string }): Promise<void>;
  /** A test of the webhook arrives. */
  sendTest(): Promise<void>;
  close(): Promise<void>;
}

let users = 0;
const newUser = () => String(810_000_000 + ++users);
/** Not a list of issues in JSON. */
const sentence = expect.stringMatching(/^\w[^\n]+$/);
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

interface Entry {
  readonly entryId: string;
  readonly userId: string;
  readonly event: string | null;
  readonly amount: number;
  readonly reason: string | null;
}

/** The tests of what a bot's backend calls of the companion API, over tRPC's wire, for the API and for whoever imitates it. */
export function companionContract(name: string, start: () => Promise<CompanionUnderTest>): void {
  describe(`${name} answers as the companion API`, () => {
    const contract = useCompanion(start);
    codesAndCredits(contract);
    tasks(contract);
    spendsAndPages(contract);
    watches(contract);
    refusals(contract);
  });
}

type Contract = ReturnType<typeof useCompanion>;

const keyOf = (key: string | undefined) => (key === undefined ? {} : { authorization: `Bearer ${key}` });

/** Starts the API for the tests of this block. */
function useCompanion(start: () => Promise<CompanionUnderTest>) {
  let api: CompanionUnderTest;
  beforeAll(async () => {
    api = await start();
  });
  afterAll(() => api.close());

  const query = (path: string, input: unknown = {}, key: string | undefined = api.apiKey) =>
    fetch(`${api.url}/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`, { headers: keyOf(key) });
  const mutate = (path: string, input: unknown, key: string | undefined = api.apiKey) =>
    fetch(`${api.url}/trpc/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...keyOf(key) },
      body: typeof input === "string" ? input : JSON.stringify(input),
    });
  async function dataOf(answer: Promise<Response>): Promise<unknown> {
    const response = await answer;
    const body = (await response.json()) as { result: { data: unknown } };
    expect({ status: response.status, body }).toEqual({ status: 200, body: { result: { data: expect.anything() } } });
    return body.result.data;
  }
  async function createCode(userId: string, reference?: string) {
    const input = { userId, ...(reference !== undefined && { reference }) };
    return (await dataOf(mutate("codes.create", input))) as { code: string };
  }
  const list = async (input: object) =>
    (await dataOf(query("rewards.list", input))) as { entries: Entry[]; next: string | null };
  const balanceOf = (userId: string) => dataOf(query("rewards.balance", { userId }));
  const statusOf = (input: object) => dataOf(query("rewards.status", input));
  const spend = (order: object) => dataOf(mutate("rewards.spend", order));
  return { api: () => api, query, mutate, dataOf, createCode, list, balanceOf, statusOf, spend };
}

function codesAndCredits({ api, createCode, list, balanceOf, statusOf }: Contract): void {
  test("a code is created with its expiry and its links, and a repeat returns it", async () => {
    const userId = newUser();
    const created = await createCode(userId, "order 7");
    expect(created).toEqual({
      outcome: "created",
      code: expect.stringMatching(/^[0-9A-Za-z]+$/),
      expiresInSeconds: expect.any(Number),
      expiresAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/),
      miniappUrl: expect.stringMatching(new RegExp(`/${api().botId}\\?code=${created.code}$`)),
      startappLink: expect.stringMatching(new RegExp(`^https://t.me/.+startapp=${created.code}$`)),
      directLink: expect.stringMatching(new RegExp(`/${created.code}$`)),
    });
    expect((await createCode(userId, "order 7")).code).toBe(created.code);
    expect((await createCode(userId, "order 8")).code).not.toBe(created.code);
  });

  test("a view is credited: status, balance and list have its entry", async () => {
    const userId = newUser();
    const { code } = await createCode(userId, "order 7");
    expect(await statusOf({ code })).toEqual({ outcome: "not-yet" });
    expect(await balanceOf(userId)).toEqual({ balance: 0 });
    await api().earn(code, "rewarded", { startParam: "ref_7" });
    const recordedAt = expect.stringMatching(moment);
    const credited = { outcome: "credited", amount: 10, balance: 10, event: "rewarded", recordedAt };
    expect(await statusOf({ code })).toEqual(credited);
    expect(await statusOf({ userId })).toEqual(credited);
    expect(await balanceOf(userId)).toEqual({ balance: 10 });
    expect(await list({ userId })).toEqual({
      entries: [
        {
          entryId: expect.any(String),
          userId,
          event: "rewarded",
          code,
          reference: "order 7",
          startParam: "ref_7",
          eventId: expect.stringMatching(/^evt_/),
          amount: 10,
          reason: null,
          balance: 10,
          recordedAt,
        },
      ],
      next: null,
    });
  });

  test("a code pays once: the other event pays nothing and says why, and the status stays credited", async () => {
    const userId = newUser();
    const { code } = await createCode(userId);
    await api().earn(code, "direct_link");
    await api().earn(code, "rewarded");
    expect((await list({ userId })).entries).toMatchObject([
      { event: "rewarded", amount: 0, reason: "code-already-paid", balance: null },
      { event: "direct_link", amount: 3, reason: null, balance: 3 },
    ]);
    expect(await statusOf({ code })).toMatchObject({ outcome: "credited", event: "direct_link", amount: 3 });
    expect(await statusOf({ code, event: "rewarded" })).toEqual({
      outcome: "refused",
      reason: "code-already-paid",
      amount: 0,
      balance: 3,
      recordedAt: expect.stringMatching(moment),
    });
  });
}

function tasks({ api, list, balanceOf, statusOf, spend }: Contract): void {
  const task = (userId: string) => ({ userId, code: `task${userId}` });
  const amounts = async (userId: string) =>
    (await list({ userId })).entries.map(({ event, amount, reason }) => [event, reason ?? amount]);

  test("a task is credited, and its reversal takes back what it paid", async () => {
    const userId = newUser();
    const { code } = task(userId);
    await api().earnTask("task", task(userId));
    expect(await statusOf({ code })).toMatchObject({ outcome: "credited", amount: 5, balance: 5, event: "task" });
    await api().earnTask("task_reversed", task(userId));
    expect(await statusOf({ code })).toEqual({
      outcome: "reversed",
      amount: -5,
      balance: 0,
      event: "task_reversed",
      recordedAt: expect.stringMatching(moment),
    });
    expect(await amounts(userId)).toEqual([
      ["task_reversed", -5],
      ["task", 5],
    ]);
  });

  test("a reversal that comes first takes nothing, and then its task pays nothing", async () => {
    const userId = newUser();
    await api().earnTask("task_reversed", task(userId));
    await api().earnTask("task", task(userId));
    expect(await amounts(userId)).toEqual([
      ["task", "task-reversed"],
      ["task_reversed", "task-not-paid"],
    ]);
    expect(await balanceOf(userId)).toEqual({ balance: 0 });
  });

  test("who spends the units of a task and leaves owes them: nothing is sold until they are earned again", async () => {
    const userId = newUser();
    await api().earnTask("task", task(userId));
    await spend({ userId, amount: 4, idempotencyKey: "before leaving" });
    await api().earnTask("task_reversed", task(userId));
    expect(await balanceOf(userId)).toEqual({ balance: -4 });
    const order = { userId, amount: 1, idempotencyKey: "after leaving" };
    expect(await spend(order)).toEqual({ outcome: "insufficient", balance: -4 });
    await api().earnTask("task", { userId, code: `another${userId}` });
    expect(await spend(order)).toMatchObject({ outcome: "spent", balance: 0 });
  });
}

function spendsAndPages({ api, createCode, list, statusOf, spend }: Contract): void {
  test("a spend happens once for each key, and never beyond the balance", async () => {
    const userId = newUser();
    await api().earn((await createCode(userId)).code, "rewarded");
    const order = { userId, amount: 4, idempotencyKey: "order 1", note: "a hat" };
    const spent = { outcome: "spent", balance: 6, entryId: expect.any(String) };
    const first = await spend(order);
    expect(first).toEqual(spent);
    expect(await spend(order)).toEqual(first);
    expect(await spend({ ...order, amount: 5 })).toEqual({ outcome: "conflict" });
    expect(await spend({ ...order, idempotencyKey: "order 2", amount: 7 })).toEqual({
      outcome: "insufficient",
      balance: 6,
    });
    expect((await list({ userId, limit: 1 })).entries).toMatchObject([
      { event: null, code: null, eventId: null, amount: -4, reason: "a hat", balance: 6 },
    ]);
    expect(await statusOf({ userId })).toMatchObject({ outcome: "credited", amount: 10, balance: 6 });
  });

  test("the list goes on page by page, newest first, and repeats none", async () => {
    const userId = newUser();
    for (const reference of ["1", "2", "3"]) await api().earn((await createCode(userId, reference)).code, "rewarded");
    const whole = (await list({ userId })).entries.map(({ entryId }) => entryId);
    const first = await list({ userId, limit: 2 });
    const second = await list({ userId, limit: 2, cursor: first.next ?? "" });
    expect([...first.entries, ...second.entries].map(({ entryId }) => entryId)).toEqual(whole);
    expect([whole.length, second.next]).toEqual([3, null]);
  });
}

/** Reads a watch until `isEnough`, and returns what it yielded. */
async function watch(
  api: CompanionUnderTest,
  input: object,
  isEnough: (entries: Entry[]) => boolean,
  onStart: () => Promise<void> = async () => {},
) {
  const abort = new AbortController();
  const address = `${api.url}/trpc/rewards.watch?input=${encodeURIComponent(JSON.stringify(input))}`;
  const headers = { ...keyOf(api.apiKey), accept: "text/event-stream" };
  const response = await fetch(address, { headers, signal: abort.signal });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^text\/event-stream/),
  ]);
  const started = onStart();
  let text = "";
  const entries = () => blocksOf(text).filter(({ event }) => event === undefined);
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (isEnough(entries().map(({ data }) => JSON.parse(data ?? "")))) break;
  }
  abort.abort();
  await started;
  expect(blocksOf(text)[0]).toMatchObject({ event: "connected" });
  return entries().map(({ id = "", data = "" }) => ({ cursor: id, entry: JSON.parse(data) as Entry }));
}

interface Watched {
  readonly cursor: string;
  readonly entry: Entry;
}

/**
 * The entries of a user, and tests of the webhook: a cursor is behind those of earlier tests while another transaction of the
 * database is open, so that a watch may have them, too.
 */
function ownOf(watched: readonly Watched[], userId: string): Watched[] {
  return watched.filter(({ entry }) => entry.userId === userId || entry.reason === "test");
}

function watches({ api, query, dataOf, createCode, list, spend }: Contract): void {
  test("a watch has each entry once from its cursor on, then live, and goes on from the last one", async () => {
    const userId = newUser();
    const { cursor } = (await dataOf(query("rewards.cursor"))) as { cursor: string };
    await api().earn((await createCode(userId, "1")).code, "rewarded");
    const later = async () => void (await spend({ userId, amount: 1, idempotencyKey: "order 1" }));
    const has = (count: number) => (entries: Entry[]) =>
      entries.filter((entry) => entry.userId === userId).length >= count;
    const watched = ownOf(await watch(api(), { lastEventId: cursor }, has(2), later), userId);
    expect(watched.map(({ entry }) => [entry.userId, entry.amount])).toEqual([
      [userId, 10],
      [userId, -1],
    ]);
    expect(watched[0]?.entry).toEqual((await list({ userId })).entries[1]);
    const rest = await watch(api(), { lastEventId: watched[0]?.cursor }, has(1));
    expect(ownOf(rest, userId)).toEqual(watched.slice(1));
    const whole = await watch(api(), { from: "start" }, (entries) => entries.some(({ amount }) => amount === -1));
    expect(whole.length).toBeGreaterThan(2);
  });

  test("a test of the webhook is in a watch only on request, and pays nothing", async () => {
    const { cursor } = (await dataOf(query("rewards.cursor"))) as { cursor: string };
    await api().sendTest();
    const userId = newUser();
    await api().earn((await createCode(userId)).code, "rewarded");
    const isPaid = (entries: Entry[]) => entries.some((entry) => entry.userId === userId);
    const amountsOf = (watched: Watched[]) => ownOf(watched, userId).map(({ entry }) => [entry.reason, entry.amount]);
    expect(amountsOf(await watch(api(), { lastEventId: cursor }, isPaid))).toEqual([[null, 10]]);
    expect(amountsOf(await watch(api(), { lastEventId: cursor, includeTests: true }, isPaid))).toEqual([
      ["test", 0],
      [null, 10],
    ]);
  });

  test.each([
    ["from letters", { lastEventId: "letters!" }, undefined, "BAD_REQUEST", 400],
    ["with another key", {}, "k".repeat(40), "UNAUTHORIZED", 401],
  ])("a watch %s is a stream with one error", async (_what, input, key, code, httpStatus) => {
    const answer = await query("rewards.watch", input, key ?? api().apiKey);
    expect(answer.status).toBe(200);
    const blocks = blocksOf(await answer.text()).filter(({ event }) => event !== "connected");
    expect(blocks.map(({ event, data = "" }) => [event, JSON.parse(data)])).toEqual([
      [
        "serialized-error",
        { message: sentence, code: expect.any(Number), data: { code, httpStatus, path: "rewards.watch" } },
      ],
    ]);
  });
}

function refusals({ api, query, mutate }: Contract): void {
  test("calls of one batch are answered in their sequence, each with its own outcome", async () => {
    const userId = newUser();
    const input = encodeURIComponent(JSON.stringify({ 0: { userId }, 1: { userId: "ann" } }));
    const answer = await fetch(`${api().url}/trpc/rewards.balance,rewards.balance?batch=1&input=${input}`, {
      headers: keyOf(api().apiKey),
    });
    expect(answer.status).toBe(207);
    expect(await answer.json()).toMatchObject([
      { result: { data: { balance: 0 } } },
      { error: { data: { code: "BAD_REQUEST", httpStatus: 400 } } },
    ]);
  });

  const order = { userId: "42", amount: 1, idempotencyKey: "order 1" };
  test.each<[string, number, string, () => Promise<Response>]>([
    [
      "no key",
      401,
      "UNAUTHORIZED",
      () => fetch(`${api().url}/trpc/rewards.balance?input=%7B%22userId%22%3A%2242%22%7D`),
    ],
    ["another key", 401, "UNAUTHORIZED", () => query("rewards.balance", { userId: "42" }, "k".repeat(40))],
    ["an unknown procedure", 404, "NOT_FOUND", () => query("rewards.nothing")],
    ["a query of a mutation", 405, "METHOD_NOT_SUPPORTED", () => query("rewards.spend", order)],
    ["a mutation of a query", 405, "METHOD_NOT_SUPPORTED", () => mutate("rewards.balance", { userId: "42" })],
    ["malformed JSON", 400, "BAD_REQUEST", () => mutate("codes.create", "{")],
    ["no user", 400, "BAD_REQUEST", () => mutate("codes.create", {})],
    ["a user of letters", 400, "BAD_REQUEST", () => mutate("codes.create", { userId: "ann" })],
    ["a number as a user", 400, "BAD_REQUEST", () => mutate("codes.create", { userId: 42 })],
    [
      "a long reference",
      400,
      "BAD_REQUEST",
      () => mutate("codes.create", { userId: "42", reference: "x".repeat(129) }),
    ],
    ["a balance of nobody", 400, "BAD_REQUEST", () => query("rewards.balance")],
    ["a status of nothing", 400, "BAD_REQUEST", () => query("rewards.status")],
    ["an amount of 0", 400, "BAD_REQUEST", () => mutate("rewards.spend", { ...order, amount: 0 })],
    ["half a unit", 400, "BAD_REQUEST", () => mutate("rewards.spend", { ...order, amount: 0.5 })],
    ["no idempotency key", 400, "BAD_REQUEST", () => mutate("rewards.spend", { userId: "42", amount: 1 })],
    ["a page of 101", 400, "BAD_REQUEST", () => query("rewards.list", { limit: 101 })],
    ["a cursor of letters", 400, "BAD_REQUEST", () => query("rewards.list", { cursor: "letters!" })],
  ])("%s is answered %d with tRPC's error", async (_what, status, code, send) => {
    const answer = await send();
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({
      error: { message: sentence, code: expect.any(Number), data: { code, httpStatus: status } },
    });
  });
}

interface Block {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
}

function blocksOf(text: string): Block[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => Object.fromEntries([...block.matchAll(/^(\w+): ?(.*)$/gm)].map(([, name, value]) => [name, value])))
    .filter(({ event }) => event !== "ping");
}

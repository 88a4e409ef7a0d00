import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { createCompanion } from "./create-companion.ts";
import { followLedger, followRewards, type Reward } from "./follow-rewards.ts";
import { memoryStore } from "./memory-store.ts";
import { sqliteStore } from "./stores.ts";

/** The answers of a companion API to `rewards.watch`, one after the other; after the last one nothing more is answered. */
function companionOf(...answers: (() => Response)[]) {
  const after: unknown[] = [];
  const companion = createCompanion({
    url: "http://api.test",
    apiKey: "key",
    timeoutMs: 50,
    fetch: async (address, init) => {
      const input = JSON.parse(new URL(String(address)).searchParams.get("input") ?? "{}");
      after.push(input.lastEventId);
      const answer = answers[after.length - 1];
      if (answer) return answer();
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    },
  });
  return { companion, after };
}

const entries = (...cursors: string[]) =>
  new Response(cursors.map((cursor) => `id: ${cursor}\ndata: {"entryId":"${cursor}"}\n\n`).join(""));
const refusal = (status: number, code: string, headers = {}) =>
  Response.json({ error: { message: code, data: { code, httpStatus: status } } }, { status, headers });

function follow(
  companion: ReturnType<typeof companionOf>["companion"],
  handle: (id: string) => void,
  write = (_: string | undefined) => {},
) {
  const abort = new AbortController();
  let cursor: string | undefined;
  const cursors = {
    read: () => cursor,
    write(next: string | undefined) {
      write(next);
      cursor = next;
    },
  };
  const onError = vi.fn();
  const ended = followRewards(companion, cursors, ({ entryId }) => handle(entryId), { signal: abort.signal, onError });
  return { ended, onError, stop: () => abort.abort() };
}

test.each(["PRECONDITION_FAILED", "FORBIDDEN"])(
  "an error %s of the handler repeats its entry and loses no cursor",
  async (code) => {
    const { companion, after } = companionOf(
      () => entries("1", "2"),
      () => entries("2"),
    );
    const handled: string[] = [];
    const { ended, onError, stop } = follow(companion, (id) => {
      handled.push(id);
      if (handled.length === 2) throw Object.assign(new Error("of the handler"), { code });
    });
    await vi.waitFor(() => expect(handled).toEqual(["1", "2", "2"]));
    stop();
    await ended;
    expect(after.slice(0, 2)).toEqual([undefined, "1"]);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code }));
  },
);

test("a ledger that is older than the cursor is read from its start, also if the cursor cannot be stored at once", {
  tags: "long",
}, async () => {
  const lost = () => refusal(412, "PRECONDITION_FAILED");
  const { companion, after } = companionOf(
    () => entries("1"),
    lost,
    lost,
    () => entries("1"),
  );
  const handled: string[] = [];
  const write = vi
    .fn()
    .mockReturnValueOnce(undefined)
    .mockImplementationOnce(() => {
      throw new Error("no disk");
    });
  const { ended, stop } = follow(companion, (id) => void handled.push(id), write);
  await vi.waitFor(() => expect(handled).toEqual(["1", "1"]));
  stop();
  await ended;
  expect(after.slice(0, 4)).toEqual([undefined, "1", "1", undefined]);
});

test("a ledger that is read from its start after a restore pays no entry again that the store knows", {
  tags: "long",
}, async () => {
  const { companion, after } = companionOf(
    () => entries("1", "2"),
    () => refusal(412, "PRECONDITION_FAILED"),
    () => entries("1", "2", "3"),
  );
  const abort = new AbortController();
  let cursor: string | undefined;
  const cursors = {
    read: () => cursor,
    write(next: string | undefined) {
      cursor = next;
    },
  };
  const handled: string[] = [];
  const options = { signal: abort.signal, store: memoryStore(), onError: () => {} };
  const ended = followRewards(companion, cursors, ({ entryId }) => void handled.push(entryId), options);
  await vi.waitFor(() => expect(handled).toContain("3"));
  await vi.waitFor(() => expect(cursor).toBe("3"));
  abort.abort();
  await ended;
  expect(handled).toEqual(["1", "2", "3"]);
  expect(after.slice(0, 3)).toEqual([undefined, "2", undefined]);
});

test("after a restore, the number of a lost entry belongs to another event, which is handled, and a lost event is not handled again", async () => {
  const ledger = (...facts: [entryId: string, eventId: string | null][]) =>
    new Response(
      facts
        .map(([entryId, eventId]) => {
          const event = eventId === null ? null : "rewarded";
          const entry = { entryId, eventId, event, recordedAt: `2026-01-01T00:00:0${facts.length}.000Z` };
          return `id: ${facts.length}-${entryId}\ndata: ${JSON.stringify(entry)}\n\n`;
        })
        .join(""),
    );
  const { companion } = companionOf(
    () => ledger(["1", "evt_kept"], ["2", "evt_lost"], ["3", null]),
    () => refusal(412, "PRECONDITION_FAILED"),
    () => ledger(["1", "evt_kept"], ["2", "evt_new"], ["3", null], ["4", "evt_lost"]),
  );
  const abort = new AbortController();
  const written: (string | undefined)[] = [];
  const cursors = { read: () => written.at(-1), write: (next: string | undefined) => void written.push(next) };
  const handled: (string | null)[] = [];
  const options = { signal: abort.signal, store: memoryStore(), onError: () => {} };
  const ended = followLedger(companion, cursors, ({ eventId }) => void handled.push(eventId), options);
  await vi.waitFor(() => expect(written.at(-1)).toBe("4-4"), { timeout: 20_000 });
  abort.abort();
  await ended;
  expect(handled).toEqual(["evt_kept", "evt_lost", null, "evt_new", null]);
});

test("an effect is committed with an entry of the ledger, by the entry itself", async () => {
  const entry = {
    entryId: "1",
    eventId: "evt_1",
    event: "rewarded",
    recordedAt: "2026-01-01T00:00:00.000Z",
    code: null,
  };
  const { companion } = companionOf(() => new Response(`id: 1\ndata: ${JSON.stringify(entry)}\n\n`));
  const database = new DatabaseSync(":memory:");
  database.exec("create table coins (event_id text)");
  const insert = database.prepare("insert into coins values (?)");
  const [abort, store] = [new AbortController(), sqliteStore(database)];
  const cursors = { read: () => undefined, write: () => abort.abort() };
  const pay = (reward: Reward) => store.commit(reward, () => void insert.run(reward.eventId));
  await followRewards(companion, cursors, pay, { signal: abort.signal, store });
  expect(database.prepare("select * from coins").all()).toMatchObject([{ event_id: "evt_1" }]);
});

test("spends are no rewards: followRewards passes over them and keeps its place, followLedger has them", async () => {
  const ledger = () =>
    new Response(
      [
        { entryId: "1", event: "rewarded", amount: 10 },
        { entryId: "2", event: null, amount: -4 },
        { entryId: "3", event: "direct_link", amount: 0 },
        { entryId: "4", event: null, amount: -6 },
      ]
        .map((entry) => `id: ${entry.entryId}\ndata: ${JSON.stringify(entry)}\n\n`)
        .join(""),
    );
  for (const [followed, expected] of [
    [followRewards, ["1", "3"]],
    [followLedger, ["1", "2", "3", "4"]],
  ] as const) {
    const { companion } = companionOf(ledger);
    const [abort, store] = [new AbortController(), memoryStore()];
    const [handled, cursors]: string[][] = [[], []];
    const place = { read: () => cursors?.at(-1), write: (cursor?: string) => void cursors?.push(cursor ?? "") };
    const options = { signal: abort.signal, store, onError: () => {} };
    const ended = followed(companion, place, ({ entryId }) => void handled?.push(entryId), options);
    await vi.waitFor(() => expect(cursors).toEqual(["1", "2", "3", "4"]));
    abort.abort();
    await ended;
    expect(handled).toEqual(expected);
  }
});

test("an API that accepts the request and never answers is reported and asked again", async () => {
  const { companion, after } = companionOf();
  const { ended, onError, stop } = follow(companion, () => {});
  await vi.waitFor(() => expect(after.length).toBeGreaterThan(1));
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: "UNREACHABLE" }));
  stop();
  await ended;
});

test("an onError that throws does not end following", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const { companion, after } = companionOf(() => refusal(503, "SERVICE_UNAVAILABLE"));
  const { ended, onError, stop } = follow(companion, () => {});
  onError.mockImplementation(() => {
    throw new Error("no log");
  });
  await vi.waitFor(() => expect(after.length).toBeGreaterThan(1));
  stop();
  await ended;
  expect(logged).toHaveBeenCalled();
  logged.mockRestore();
});

test("a call waits as long as the API says, and leaves a longer wait to its caller", async () => {
  const waits = ["0", "60"];
  const { companion, after } = companionOf(
    ...waits.map((wait) => () => refusal(429, "TOO_MANY_REQUESTS", { "retry-after": wait })),
  );
  await expect(companion.balance("42")).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 });
  expect(after).toHaveLength(2);
});

test("a handler that is late is reported, is not called twice, and later entries follow when it is done", async () => {
  const { companion } = companionOf(...Array.from({ length: 20 }, () => () => entries("1", "2")));
  const [abort, slow, onError] = [new AbortController(), Promise.withResolvers<void>(), vi.fn()];
  const handle = vi.fn(({ entryId }: { entryId: string }) => (entryId === "1" ? slow.promise : undefined));
  const written: unknown[] = [];
  const cursors = { read: () => undefined, write: (cursor?: string) => void written.push(cursor) };
  const ended = followLedger(companion, cursors, handle, { signal: abort.signal, onError, handlerTimeoutMs: 20 });
  await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1));
  expect(String(onError.mock.calls[0])).toContain("the handler of the ledger's entry 1 is not done after 20 ms");
  expect(handle).toHaveBeenCalledTimes(1);
  // It is done while nobody waits for it.
  slow.resolve();
  await vi.waitFor(() => expect(written).toContain("2"));
  abort.abort();
  await ended;
  expect(handle.mock.calls.slice(0, 2)).toMatchObject([[{ entryId: "1" }], [{ entryId: "2" }]]);
  expect(written.slice(0, 2)).toEqual(["1", "2"]);
});

test("a handler that never ends is called again after ten minutes, and an abort waits for it only so long", async () => {
  const { companion } = companionOf(...Array.from({ length: 20 }, () => () => entries("1")));
  vi.useFakeTimers({ toFake: ["performance"] });
  const [abort, onError, handle] = [new AbortController(), vi.fn(), vi.fn(() => new Promise<void>(() => {}))];
  const cursors = { read: () => undefined, write: () => {} };
  const ended = followRewards(companion, cursors, handle, { signal: abort.signal, onError, handlerTimeoutMs: 20 });
  await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1));
  vi.advanceTimersByTime(600_001);
  await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2));
  vi.useRealTimers();
  abort.abort();
  await ended;
});

import { expect, test, vi } from "vitest";
import { AdsError } from "./ads-error.ts";
import type { EventsPage, ListedEvent } from "./create-ads.ts";
import { memoryStore } from "./memory-store.ts";
import { reconcile } from "./reconcile.ts";

const event = (eventId: string) => ({ eventId, event: "rewarded", userId: "42", isTest: false }) as ListedEvent;
const page = (next: string, hasMore: boolean, ...ids: string[]): EventsPage => ({
  events: ids.map(event),
  next,
  hasMore,
});

/** A service with these pages, by the cursor before them; a cursor that it does not know is lost. */
function serviceOf(pages: Record<string, EventsPage>) {
  const requested: (string | undefined)[] = [];
  return {
    requested,
    async events({ after }: { after?: string | undefined } = {}) {
      requested.push(after);
      const found = pages[after ?? "start"];
      if (found === undefined) throw new AdsError("lost", { status: 400, code: "CURSOR_LOST" });
      return found;
    },
  };
}

function cursorStore(cursor?: string) {
  return {
    read: () => cursor,
    write(next: string | undefined) {
      cursor = next;
    },
  };
}

test("reads from the beginning if the service lost the cursor, and stores where it ended", async () => {
  const cursors = cursorStore("older");
  const handled: unknown[] = [];
  const service = serviceOf({ start: page("a", true, "1"), a: page("b", false, "2") });
  expect(await reconcile(service, cursors, ({ eventId }) => void handled.push(eventId))).toBe(2);
  expect(service.requested).toEqual(["older", undefined, "a"]);
  expect([handled, cursors.read()]).toEqual([["1", "2"], "b"]);
});

test("reads from the beginning, too, if the error is of another copy of the package, and without a stored cursor", async () => {
  for (const cursor of ["older", "", null]) {
    const { read, write } = cursorStore(cursor as string);
    const events = vi.fn(async ({ after }: { after?: string | undefined } = {}) => {
      if (after !== undefined) throw Object.assign(new Error("lost"), { code: "CURSOR_LOST" });
      return page("b", false, "1");
    });
    expect(await reconcile({ events }, { read, write }, () => {})).toBe(1);
    expect(read()).toBe("b");
  }
});

test("a list that is read from its beginning again passes no event that the store knows", async () => {
  const handled: unknown[] = [];
  const store = memoryStore();
  const handle = ({ eventId }: { eventId: string | undefined }) => void handled.push(eventId);
  const service = serviceOf({ start: page("a", false, "1", "2") });
  expect(await reconcile(service, cursorStore(), handle, { store })).toBe(2);
  expect(await reconcile(service, cursorStore("lost"), handle, { store })).toBe(0);
  expect(handled).toEqual(["1", "2"]);
});

test("a page is repeated if its cursor could not be stored", async () => {
  const handled: unknown[] = [];
  const service = serviceOf({ start: page("a", false, "1") });
  const broken = { read: () => undefined, write: () => Promise.reject(new Error("no disk")) };
  const handle = ({ eventId }: { eventId: string | undefined }) => void handled.push(eventId);
  await expect(reconcile(service, broken, handle)).rejects.toThrow("no disk");
  await reconcile(service, cursorStore(), handle);
  expect(handled).toEqual(["1", "1"]);
});

test("a store that keeps nothing, and a service whose pages do not advance, end the reading", async () => {
  const forgetful = { read: () => undefined, write: () => {} };
  const service = serviceOf({ start: page("a", true, "1"), a: page("a", true, "2") });
  await expect(reconcile(service, forgetful, () => {})).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER" });
  expect(service.requested).toEqual([undefined, "a"]);
});

test("an abort ends the page after the event that is being handled, and does not store its cursor", async () => {
  const abort = new AbortController();
  const cursors = cursorStore();
  const service = serviceOf({ start: page("a", false, "1", "2", "3") });
  expect(await reconcile(service, cursors, () => abort.abort(), { signal: abort.signal })).toBe(1);
  expect(cursors.read()).toBeUndefined();
});

test("a handler that never ends is reported with its event, stores no cursor, and with a store is not called twice", async () => {
  const cursors = cursorStore();
  const [handle, store] = [vi.fn(() => new Promise<void>(() => {})), memoryStore()];
  const service = serviceOf({ start: page("a", false, "1") });
  for (let call = 0; call < 2; call++)
    await expect(reconcile(service, cursors, handle, { store, handlerTimeoutMs: 20 })).rejects.toThrow(
      "the handler of rewarded 1 is not done after 20 ms",
    );
  expect(handle).toHaveBeenCalledTimes(1);
  expect(cursors.read()).toBeUndefined();
});

test("with a store, an event that cannot be handled withholds no later event of its page, and is handled with the next call", async () => {
  const cursors = cursorStore();
  const handled: unknown[] = [];
  const handle = vi.fn(async ({ eventId }: { eventId: string | undefined }) => void handled.push(eventId));
  handle.mockRejectedValueOnce(new Error("no such user"));
  const service = serviceOf({ start: page("a", false, "1", "2", "3") });
  const store = memoryStore();
  await expect(reconcile(service, cursors, handle, { store })).rejects.toThrow("no such user");
  expect([handled, cursors.read()]).toEqual([["2", "3"], undefined]);
  expect(await reconcile(service, cursors, handle, { store })).toBe(1);
  expect([handled, cursors.read()]).toEqual([["2", "3", "1"], "a"]);
});

test("without a store, an event that cannot be handled is the last one, since all later ones would be repeated", async () => {
  const handle = vi.fn(async () => {}).mockRejectedValueOnce(new Error("no such user"));
  const service = serviceOf({ start: page("a", false, "1", "2") });
  await expect(reconcile(service, cursorStore(), handle)).rejects.toThrow("no such user");
  expect(handle).toHaveBeenCalledTimes(1);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

/** The `EventStore` of the publisher package. */
interface EventStore {
  once(eventId: string, handle: () => Promise<void>): Promise<void>;
}

/** A store that writes a coin in one transaction with its event. `write` may throw in that transaction, if there can be one. */
interface CommittingStore extends EventStore {
  pay(eventId: string, write?: () => void): Promise<void>;
}

interface LeaseLengths {
  readonly leaseMs: number;
  /** How long a handler may take, in stores without leases. */
  readonly maxHandlerMs: number;
}

/** Why a store cannot be tested on this machine. */
interface Missing {
  readonly missing: string;
}

/** An empty place for events. */
interface StoreUnderTest<Store extends EventStore> {
  /** The store of another process, with the same events. */
  open(lengths: LeaseLengths): Store;
  close?(): Promise<unknown>;
}

const usual: LeaseLengths = { leaseMs: 60_000, maxHandlerMs: 60_000 };
const SHORT_MS = 200;
/** As after a crash: nothing extends the lease. */
const short: LeaseLengths = { leaseMs: SHORT_MS, maxHandlerMs: SHORT_MS };

let events = 0;
const newEvent = () => `evt_${++events}`;

/** A handler that runs until `end` or `fail` is called. */
function gate() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const handle = vi.fn(() => promise);
  return { handle, end: () => resolve(), fail: () => reject(new Error("failed late")) };
}
const isRunning = ({ handle }: ReturnType<typeof gate>) =>
  vi.waitFor(() => expect(handle).toHaveBeenCalled(), { timeout: 20_000 });

/** What every store of events guarantees, to callers in one process. */
export function storeContract(name: string, openPlace: () => Promise<StoreUnderTest<EventStore> | Missing>): void {
  describe(`a store in ${name}`, () => {
    const place = placeOf(openPlace);

    test("runs an event's handler until it succeeds, and never after, also if it throws at once", async () => {
      const [store, event] = [place().open(usual), newEvent()];
      const handle = vi.fn(async () => {}).mockRejectedValueOnce(new Error("first"));
      handle.mockImplementationOnce(() => {
        throw new Error("at once");
      });
      await expect(store.once(event, handle)).rejects.toThrow("first");
      await expect(store.once(event, handle)).rejects.toThrow("at once");
      for (let repeat = 0; repeat < 3; repeat++) await store.once(event, handle);
      expect(handle).toHaveBeenCalledTimes(3);
    });

    test("runs one of two at the same time; the other waits for it", async () => {
      const [store, event, slow] = [place().open(usual), newEvent(), gate()];
      const both = Promise.all([store.once(event, slow.handle), store.once(event, slow.handle)]);
      await isRunning(slow);
      slow.end();
      await both;
      expect(slow.handle).toHaveBeenCalledTimes(1);
    });

    test("has a handler that does not end delay no other event, and its own event until its time is over", async () => {
      const [store, event, hung] = [place().open(short), newEvent(), gate()];
      const first = store.once(event, hung.handle).catch(() => {});
      await isRunning(hung);
      const others = Array.from({ length: 20 }, () => vi.fn(async () => {}));
      await Promise.all(others.map((handle) => store.once(newEvent(), handle)));
      for (const handle of others) expect(handle).toHaveBeenCalledTimes(1);
      const again = vi.fn(async () => {});
      await handledAfterTheLease(store, event, again);
      expect(again).toHaveBeenCalledTimes(1);
      hung.end();
      await first;
      await store.once(event, again);
      expect(again).toHaveBeenCalledTimes(1);
    });
  });
}

/** What every store guarantees that processes share, however they crash. */
export function sharedStoreContract(
  name: string,
  openPlace: () => Promise<StoreUnderTest<EventStore> | Missing>,
): void {
  describe(`processes with a store in ${name}`, () => {
    const place = placeOf(openPlace);

    test("handle an event once that reaches several of them at the same time", async () => {
      const event = newEvent();
      const handle = vi.fn(async () => {});
      const stores = Array.from({ length: 4 }, () => place().open(usual));
      const deliver = () => Promise.allSettled(stores.map((store) => store.once(event, handle)));
      expect((await deliver()).map(({ status }) => status)).toContain("fulfilled");
      expect((await deliver()).map(({ status }) => status)).toEqual(stores.map(() => "fulfilled"));
      expect(handle).toHaveBeenCalledTimes(1);
    });

    test("handle the event of one that crashed when its lease is over, and not before", async () => {
      const [event, crashed] = [newEvent(), gate()];
      const began = performance.now();
      void place()
        .open(short)
        .once(event, crashed.handle)
        .catch(() => {});
      await isRunning(crashed);
      // Whose lease does not end while it handles the event, however slow the machine is.
      const [other, handle] = [place().open(usual), vi.fn(async () => {})];
      await handledAfterTheLease(other, event, handle);
      expect(performance.now() - began).toBeGreaterThan(SHORT_MS - 5);
      expect(handle).toHaveBeenCalledTimes(1);
      await place().open(short).once(event, handle);
      expect(handle).toHaveBeenCalledTimes(1);
      crashed.end();
    });

    test.each(["end", "fail"] as const)(
      "let a handler store nothing if its lease was taken over before its %s",
      async (outcome) => {
        const [event, late, second] = [newEvent(), gate(), gate()];
        const first = place().open(short).once(event, late.handle);
        first.catch(() => {});
        await isRunning(late);
        const taken = handledAfterTheLease(place().open(usual), event, second.handle);
        taken.catch(() => {});
        await isRunning(second);
        late[outcome]();
        await expect(first).rejects.toThrow(outcome === "end" ? /is handled by another call/ : "failed late");
        // Nobody else handled it, and the second one still does.
        await expect(
          place()
            .open(usual)
            .once(event, async () => {}),
        ).rejects.toThrow(/being handled/);
        second.fail();
        await expect(taken).rejects.toThrow("failed late");
        const again = vi.fn(async () => {});
        await place().open(usual).once(event, again);
        expect(again).toHaveBeenCalledTimes(1);
      },
    );
  });
}

/** What a store guarantees that writes a handler's effect with its event. */
export function committingStoreContract(
  name: string,
  openPlace: () => Promise<(StoreUnderTest<CommittingStore> & { coins(eventId: string): Promise<number> }) | Missing>,
): void {
  describe(`an effect that is committed with its event in ${name}`, () => {
    const place = placeOf(openPlace);

    test("is there once, whatever fails inside of the transaction or after it", async () => {
      const [store, event] = [place().open(usual), newEvent()];
      const fail = () => {
        throw new Error("inside");
      };
      await expect(store.once(event, () => store.pay(event, fail))).rejects.toThrow("inside");
      expect(await place().coins(event)).toBe(0);
      const payAndFail = async () => {
        await store.pay(event);
        throw new Error("after");
      };
      await expect(store.once(event, payAndFail)).rejects.toThrow("after");
      await Promise.all([store.once(event, () => store.pay(event)), store.once(event, () => store.pay(event))]);
      expect(await place().coins(event)).toBe(1);
    });

    test("is there once, if a handler is so late that another one took its lease over, whoever commits first", async () => {
      for (const isLateFirst of [true, false]) {
        const [event, late, second] = [newEvent(), gate(), gate()];
        const [one, other] = [place().open(short), place().open(usual)];
        const pay =
          (store: CommittingStore, { handle }: typeof late) =>
          async () => {
            await handle();
            await store.pay(event);
          };
        const first = one.once(event, pay(one, late));
        first.catch(() => {});
        await isRunning(late);
        const taken = handledAfterTheLease(other, event, pay(other, second));
        await isRunning(second);
        if (!isLateFirst) {
          second.end();
          await taken;
        }
        late.end();
        await expect(first).rejects.toThrow(/is handled by another call/);
        second.end();
        await taken;
        expect(await place().coins(event)).toBe(1);
      }
    });

    test("needs a handler that runs", async () => {
      await expect(place().open(usual).pay(newEvent())).rejects.toThrow("inside the handler");
    });
  });
}

function placeOf<Place extends StoreUnderTest<EventStore>>(open: () => Promise<Place | Missing>): () => Place {
  let place: Place | Missing | undefined;
  beforeAll(async () => {
    place = await open();
    if ("missing" in place) console.log(`!!! Not tested: ${place.missing}`);
  });
  beforeEach(({ skip }) => {
    if (place !== undefined && "missing" in place) skip(place.missing);
  });
  afterAll(async () => {
    if (place !== undefined && "open" in place) await place.close?.();
  });
  return () => {
    if (place === undefined || "missing" in place) throw new Error("the store is not open");
    return place;
  };
}

/** Sends the event again, as the ad service does, until its handler runs. */
async function handledAfterTheLease(store: EventStore, event: string, handle: () => Promise<void>): Promise<void> {
  // Repeats wait for an earlier attempt, whose handler may run meanwhile.
  let isCalled = false;
  const giveUpAt = performance.now() + 30_000;
  for (;;) {
    const waiting = new Promise<"waits">((resolve) => setTimeout(() => resolve("waits"), SHORT_MS));
    const handling = store.once(event, () => {
      isCalled = true;
      return handle();
    });
    const outcome = await Promise.race([
      handling.then(
        () => "handled",
        (error: unknown) => ({ error }),
      ),
      waiting,
    ]);
    if (isCalled) return handling;
    if (outcome === "handled") throw new Error(`${event} counts as handled`);
    if (performance.now() > giveUpAt) throw new Error(`${event} is still leased`, { cause: outcome });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

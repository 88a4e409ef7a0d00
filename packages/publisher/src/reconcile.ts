import { unexpectedAnswer } from "./ads-error.ts";
import { callHandler } from "./call-handler.ts";
import { requireMilliseconds } from "./client-settings.ts";
import type { Ads, CallOptions } from "./create-ads.ts";
import type { EventStore } from "./memory-store.ts";
import { inTime } from "./pause.ts";
import type { AdEvent } from "./verify-webhook.ts";
import { handleOnce } from "./webhook.ts";

/** Stores the position in a list of events across restarts. */
export interface CursorStore {
  /** Undefined, null, as databases answer, or "" before the first `write`. An error of the place is thrown: it is no beginning. */
  read(): Promise<string | null | undefined> | string | null | undefined;
  write(cursor: string | undefined): Promise<void> | void;
}

/**
 * Reads all events since the stored cursor and passes each to `handle`, in commit order. It finds events whose webhooks did
 * not arrive: run it at start and every minute. Most events arrived before: pass the webhook's `store`, else `handle` must
 * ignore event ids that it knows. Without a cursor, and after a restore of the service, the list is read from its beginning,
 * and what the store has forgotten is handled again. Test events are left out. The cursor is written after each page: a crash
 * repeats a page and skips none.
 *
 * Rejects if `handle` does, or is not done after `handlerTimeoutMs`, 60 s by default: the next call repeats the page. With a
 * store, the later events of the page are handled before.
 *
 * @returns how many events `handle` was called for.
 */
export async function reconcile(
  ads: Pick<Ads, "events">,
  cursors: CursorStore,
  handle: (event: AdEvent) => Promise<void> | void,
  options: CallOptions & {
    readonly store?: EventStore | undefined;
    readonly handlerTimeoutMs?: number | undefined;
  } = {},
): Promise<number> {
  const { signal, store, handlerTimeoutMs = 60_000 } = options;
  requireMilliseconds({ handlerTimeoutMs });
  let count = 0;
  let after = (await cursors.read()) || undefined;
  for (let hasMore = true; hasMore && !signal?.aborted; ) {
    const page = await ads.events({ limit: 1000, after }, { signal }).catch((error) => {
      // The service was restored from a backup that is older than the cursor: read the list from its beginning.
      // Known by its code: another copy of this package, as of require() beside import, has an AdsError of its own.
      if (after !== undefined && error?.code === "CURSOR_LOST") return undefined;
      throw error;
    });
    const faults: unknown[] = [];
    for (const event of page?.events ?? []) {
      if (signal?.aborted) return count;
      if (event.isTest) continue;
      const run = async () => {
        await callHandler(handle, event);
        count += 1;
      };
      const handling = store ? handleOnce(store, event, run) : run();
      try {
        await inTime(handling, handlerTimeoutMs, `the handler of ${event.event} ${event.eventId}`);
      } catch (error) {
        // Without a store, the events that are handled now would be handled again with the page.
        if (!store) throw error;
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
    hasMore = page?.hasMore ?? true;
    // The next page would be this one again.
    if (hasMore && page?.next === after) throw unexpectedAnswer();
    after = page?.next;
    await cursors.write(after);
  }
  return count;
}

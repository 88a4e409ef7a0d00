import type { Ads } from "./create-ads.ts";
import { AdsError } from "./create-ads.ts";
import type { AdEvent } from "./verify-webhook.ts";

/** Keeps the place in the list of events across restarts. */
export interface CursorStore {
  read(): Promise<string | undefined> | string | undefined;
  write(cursor: string | undefined): Promise<void> | void;
}

/**
 * Reads all events since the stored cursor and hands each to `handle`, in order: what no webhook delivered is found here. Run
 * it at the start and each minute. `handle` must ignore events that it knows (by `eventId`), since most arrived before. Test
 * events are left out. The cursor is written after each page, so a crash repeats a page and skips none.
 *
 * @returns how many events were handed over.
 */
export async function reconcile(
  ads: Pick<Ads, "events">,
  cursors: CursorStore,
  handle: (event: AdEvent) => Promise<void> | void,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<number> {
  let count = 0;
  for (let hasMore = true; hasMore && !signal?.aborted; ) {
    const after = await cursors.read();
    try {
      const page = await ads.events({ limit: 1000, ...(after !== undefined && { after }) }, signal && { signal });
      for (const event of page.events) {
        if (event.isTest) continue;
        await handle(event);
        count += 1;
      }
      await cursors.write(page.next);
      hasMore = page.hasMore;
    } catch (error) {
      // The service was restored from a backup that is older than the cursor: read the list from its start.
      if (!(error instanceof AdsError && error.code === "CURSOR_LOST") || after === undefined) throw error;
      await cursors.write(undefined);
    }
  }
  return count;
}

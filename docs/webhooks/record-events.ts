/** As in the webhook, and how its delivery stands. */
interface AdEvent {
  event_id: string;
  event: string;
  user_tg_id: string;
  code?: string;
  test?: boolean;
  delivery: string;
}

interface Ledger {
  /** Pays as the webhook would, each `event_id` once. */
  record(event: AdEvent): Promise<void>;
  readCursor(): Promise<string | undefined>;
  keepCursor(cursor: string | undefined): Promise<void>;
}

/** Run it at the start and each minute. It throws when the list cannot be had, and has then lost nothing. */
export async function recordEvents(baseUrl: string, token: string, ledger: Ledger, pageSize = 1000): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    const after = await ledger.readCursor();
    const query = new URLSearchParams({ limit: String(pageSize), ...(after !== undefined && { after }) });
    const response = await fetch(`${baseUrl}/client/v1/events?${query}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(15_000),
    });
    if (response.status === 410 && after !== undefined) {
      // The service was restored from a backup older than this cursor. From the start, `record` leaves out what it has.
      await ledger.keepCursor(undefined);
      continue;
    }
    if (!response.ok) throw new Error(`the list of events was answered ${response.status}: ${await response.text()}`);
    const page: { events: AdEvent[]; next: string; has_more: boolean } = await response.json();
    for (const event of page.events) {
      if (!event.test) await ledger.record(event);
    }
    // Only now: whoever dies before this line asks for the same page again.
    await ledger.keepCursor(page.next);
    hasMore = page.has_more;
  }
}

// --- command line: AD_SERVICE_URL, AD_API_TOKEN, CURSOR_FILE and PAGE_SIZE in the environment; prints what it would record
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const { AD_SERVICE_URL = "", AD_API_TOKEN = "", CURSOR_FILE = "cursor", PAGE_SIZE = "1000" } = process.env;
const ledger: Ledger = {
  record: async (event) => console.log(JSON.stringify(event)),
  readCursor: async () => (existsSync(CURSOR_FILE) ? readFileSync(CURSOR_FILE, "utf8") || undefined : undefined),
  keepCursor: async (cursor) => writeFileSync(CURSOR_FILE, cursor ?? ""),
};
await recordEvents(AD_SERVICE_URL, AD_API_TOKEN, ledger, Number(PAGE_SIZE));

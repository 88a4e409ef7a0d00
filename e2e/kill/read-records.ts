import { companionApi, type RewardEntry } from "./companion-api.ts";
import type { Nodes } from "./start-nodes.ts";
import { withRetries } from "./with-retries.ts";

export interface ListedEvent {
  readonly event_id: string;
  readonly event: "rewarded" | "direct_link";
  readonly user_tg_id: string;
  readonly code?: string;
  readonly test?: true;
  readonly delivery: "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";
}

/** The records of both parties, read through their public APIs. Endpoint tests are omitted. */
export interface Records {
  /** The ad service's, in the order of their commits. */
  readonly events: readonly ListedEvent[];
  /** The companion API's, newest first. */
  readonly entries: readonly RewardEntry[];
  readonly balances: ReadonlyMap<string, number>;
  /** The current counts of the ad service's statistics. */
  readonly counted: { readonly rewards: number; readonly clicks: number };
}

export async function readRecords(nodes: Nodes): Promise<Records> {
  const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
  const { events } = await withRetries("listing the events", () => listEvents(nodes));
  const entries = (await withRetries("listing the ledger", () => api.listAllRewards())).filter(
    ({ reason }) => reason !== "test",
  );
  const balances = new Map<string, number>();
  for (const userId of new Set(entries.map((entry) => entry.userId))) {
    balances.set(userId, await withRetries("asking for a balance", () => api.balance(userId)));
  }
  const counted = await withRetries("asking for the statistics", () => readCounted(nodes));
  return { events, entries, balances, counted };
}

async function readCounted({ adServiceUrl, secrets }: Nodes): Promise<Records["counted"]> {
  const response = await fetch(`${adServiceUrl}/client/v1/stats`, {
    headers: { authorization: `Bearer ${secrets.adApiToken}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`the statistics answered ${response.status}`);
  const { total }: { total: { rewards: number; clicks: number } } = await response.json();
  return { rewards: total.rewards, clicks: total.clicks };
}

/** The events after a cursor, and the next cursor. */
export async function listEvents(
  { adServiceUrl, secrets }: Nodes,
  begin = "",
): Promise<{ events: ListedEvent[]; next: string }> {
  const events: ListedEvent[] = [];
  let after = begin;
  for (;;) {
    const query = new URLSearchParams({ limit: "500", ...(after !== "" && { after }) });
    const response = await fetch(`${adServiceUrl}/client/v1/events?${query}`, {
      headers: { authorization: `Bearer ${secrets.adApiToken}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`the list of events answered ${response.status}`);
    const page: { events: ListedEvent[]; next: string; has_more: boolean } = await response.json();
    events.push(...page.events.filter(({ test }) => !test));
    if (!page.has_more) return { events, next: page.next };
    after = page.next;
  }
}

export interface RewardEntry {
  entryId: string;
  userId: string;
  event: "rewarded" | "direct_link" | null;
  code: string | null;
  eventId: string | null;
  amount: number;
  /** Why an event paid nothing, or the note of a purchase. */
  reason: string | null;
  balance: number | null;
  recordedAt: string;
}

export type CreatedCode =
  | { outcome: "created"; code: string; directLink: string; miniappUrl: string }
  | { outcome: "unavailable"; reason: string };

export type SpendOutcome = { outcome: "spent" | "insufficient"; balance: number } | { outcome: "conflict" };

export interface Receipt {
  eventId: string | null;
  rawBody: string | null;
  signatureHeader: string | null;
}

/** The calls that a bot backend in another language makes to the companion API, in tRPC's plain HTTP form. */
export function companionApi(apiUrl: string, backendApiKey: string) {
  async function call<Result>(path: string, init: RequestInit): Promise<Result> {
    const response = await fetch(`${apiUrl}/trpc/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${backendApiKey}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
    const { result } = await response.json();
    return result.data;
  }
  const query = <Result>(path: string, input: unknown) =>
    call<Result>(`${path}?input=${encodeURIComponent(JSON.stringify(input))}`, { method: "GET" });
  const mutate = <Result>(path: string, input: unknown) =>
    call<Result>(path, { method: "POST", body: JSON.stringify(input) });

  return {
    createCode: (userId: string, reference?: string) =>
      mutate<CreatedCode>("codes.create", { userId, ...(reference && { reference }) }),
    listRewards: async (userId: string) =>
      (await query<{ entries: RewardEntry[] }>("rewards.list", { userId, limit: 100 })).entries,
    /** The newest entries of the ledger, newest first. */
    listLatestRewards: async () => (await query<{ entries: RewardEntry[] }>("rewards.list", { limit: 100 })).entries,
    /** The whole ledger, newest first. */
    async listAllRewards(): Promise<RewardEntry[]> {
      const all: RewardEntry[] = [];
      let cursor: string | null | undefined;
      do {
        const page: { entries: RewardEntry[]; next: string | null } = await query("rewards.list", {
          limit: 100,
          ...(cursor && { cursor }),
        });
        all.push(...page.entries);
        cursor = page.next;
      } while (cursor !== null);
      return all;
    },
    spend: (order: { userId: string; amount: number; idempotencyKey: string; note: string }) =>
      mutate<SpendOutcome>("rewards.spend", order),
    latestReceipts: () => query<Receipt[]>("receipts.latest", { limit: 50 }),
    balance: async (userId: string) => (await query<{ balance: number }>("rewards.balance", { userId })).balance,
  };
}

export type CompanionApi = ReturnType<typeof companionApi>;

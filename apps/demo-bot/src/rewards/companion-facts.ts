import type { Companion } from "@intermission/publisher/companion";
import type { AppRouter } from "@intermission/publisher/companion-router";
import { createTRPCClient, httpLink } from "@trpc/client";
import type { ShownWebhook } from "../webhooks/facts.ts";

/** What the panel shows of the companion API: the latest webhooks that it received, and the user's balance. */
export function companionFacts(
  companion: Pick<Companion, "balance">,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
): (userId: string) => Promise<{ receipts: readonly ShownWebhook[]; balance: number }> {
  const api = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${url}/trpc`,
        headers: { authorization: `Bearer ${apiKey}` },
        fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(10_000) }),
      }),
    ],
  });
  return async (userId) => {
    const [receipts, balance] = await Promise.all([
      api.receipts.latest.query({ limit: 10 }),
      companion.balance(userId),
    ]);
    return { receipts, balance };
  };
}

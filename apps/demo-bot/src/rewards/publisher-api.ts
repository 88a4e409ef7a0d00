import type { AppRouter } from "@intermission/api/router";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { EventSource } from "eventsource";

export type PublisherApi = ReturnType<typeof createPublisherApi>;

/** The companion API, as a bot backend uses it. */
export function createPublisherApi(options: { readonly url: string; readonly apiKey: string }) {
  const url = `${options.url}/trpc`;
  const authorization = `Bearer ${options.apiKey}`;
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === "subscription",
        true: httpSubscriptionLink({
          url,
          // An EventSource that can send headers, so that the key stays out of the URL.
          EventSource,
          eventSourceOptions: () => ({
            fetch: (input: string | URL | Request, init?: RequestInit) =>
              fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization } }),
          }),
        }),
        false: httpLink({
          url,
          headers: { authorization },
          fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(10_000) }),
        }),
      }),
    ],
  });
}

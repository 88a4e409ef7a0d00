import type { AppRouter } from "@intermission/api/router";
import type { QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";

/**
 * The publisher's own API, which knows the credited rewards. Launch data is exchanged once for this user's token; the token
 * is kept in memory and sent in a header, never in a URL.
 */
export function createPublisherApi(url: string, initData: string, queryClient: QueryClient) {
  let authorization: string | undefined;
  const client = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${url.replace(/\/$/, "")}/trpc`,
        headers: () => (authorization ? { authorization } : {}),
      }),
    ],
  });
  return {
    trpc: createTRPCOptionsProxy<AppRouter>({ client, queryClient }),
    async signIn(): Promise<"signed-in" | "refused"> {
      const answer = await client.telegramUser.signIn.mutate({ initData });
      if (answer.outcome === "signed-in") authorization = `Bearer ${answer.sessionToken}`;
      return answer.outcome;
    },
  };
}

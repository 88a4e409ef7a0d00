import type { AppRouter } from "@intermission/api/router";
import { createTRPCClient, httpLink } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";

type Status = inferRouterOutputs<AppRouter>["rewards"]["status"];
type Refused = Extract<Status, { outcome: "refused" }>;

/** Of a view: without what only tasks have. */
export type PublisherStatus =
  | Exclude<Status, { outcome: "refused" | "reversed" }>
  | (Refused & { readonly reason: Exclude<Refused["reason"], "task-not-paid" | "task-reversed"> });

export type PublisherApi =
  | { readonly outcome: "signed-in"; readonly readStatus: (code: string) => Promise<PublisherStatus> }
  | { readonly outcome: "refused" };

/**
 * The publisher's own API, which knows the credited rewards. Launch data is exchanged once for this user's token; the token
 * is kept in memory and sent in a header, never in a URL.
 */
export async function signInToPublisher(url: string, botId: string, initData: string): Promise<PublisherApi> {
  let authorization: string | undefined;
  const client = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${url.replace(/\/$/, "")}/trpc`,
        headers: () => (authorization ? { authorization } : {}),
      }),
    ],
  });
  const answer = await client.telegramUser.signIn.mutate({ initData, botId });
  if (answer.outcome !== "signed-in") return { outcome: "refused" };
  authorization = `Bearer ${answer.sessionToken}`;
  return {
    outcome: "signed-in",
    readStatus: (code) => client.rewards.status.query({ code, event: "rewarded" }) as Promise<PublisherStatus>,
  };
}

import type { AppRouter } from "@intermission/api/router";
import { createTRPCClient, httpLink } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";

type Status = inferRouterOutputs<AppRouter>["rewards"]["status"];
type Refused = Extract<Status, { outcome: "refused" }>;

/** Of a view: without what only tasks have. */
export type PublisherStatus =
  | Exclude<Status, { outcome: "refused" | "reversed" }>
  | (Refused & { readonly reason: Exclude<Refused["reason"], "task-not-paid" | "task-reversed"> });

/** Reads what the publisher has recorded of a view. Null: it does not know this user. */
export async function signInToPublisher(url: string, botId: string, initData: string) {
  const client = await signIn(url, botId, initData);
  return (
    client && {
      readStatus: (code: string) =>
        client.rewards.status.query({ code, event: "rewarded" }) as Promise<PublisherStatus>,
    }
  );
}

/** The same of a task. */
export async function signInForTasks(url: string, botId: string, initData: string) {
  const client = await signIn(url, botId, initData);
  return client && ((code: string): Promise<Status> => client.rewards.status.query({ code, event: "task" }));
}

/**
 * The publisher's own API, which knows the credited rewards. Launch data is exchanged once for this user's token; the token
 * is kept in memory and sent in a header, never in a URL.
 */
async function signIn(url: string, botId: string, initData: string) {
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
  if (answer.outcome !== "signed-in") return null;
  authorization = `Bearer ${answer.sessionToken}`;
  return client;
}

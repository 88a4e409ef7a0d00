import { NotReachable, OperatorRefusal } from "@intermission/server/command-line";
import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import { Agent, fetch } from "undici";
import type { BotVerbs } from "./bots/bot-records.ts";
import type { AppRouter, OperatorRouter } from "./router.ts";
import type { NodeStatus, Verbs } from "./verbs.ts";

/** The queries of the command line, to a running server or to the store itself. */
export interface OperatorClient
  extends BotVerbs,
    Pick<Verbs, "listReceipts" | "listRefusals" | "listRewards" | "getBalance" | "eraseUser"> {
  status(): Promise<NodeStatus>;
  close(): Promise<void>;
}

/** The parts of a request that the tRPC client sets. */
interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Connects to the server that runs on a data folder, through the socket in it, as an operator of the named or only bot. */
export function socketOperatorClient(socketPath: string, botId: string | undefined): OperatorClient {
  const agent = new Agent({ connect: { socketPath } });
  const overSocket = (url: unknown, { method = "GET", headers, body }: Sent = {}) =>
    fetch(String(url), {
      dispatcher: agent,
      method,
      ...(headers && { headers }),
      ...(body != null && { body: String(body) }),
    });
  const { receipts, rewards, users } = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: "http://control-socket/trpc",
        headers: botId === undefined ? {} : { "x-bot-id": botId },
        fetch: (url, sent) => overSocket(url, sent as Sent),
      }),
    ],
  });
  const { bots, status } = createTRPCClient<OperatorRouter>({
    links: [httpLink({ url: "http://control-socket/operator", fetch: (url, sent) => overSocket(url, sent as Sent) })],
  });
  const explained = <Answer>(answer: Promise<Answer>) =>
    answer.catch((error: unknown): never => {
      if (!(error instanceof TRPCClientError)) throw error;
      if (error.data) throw new OperatorRefusal(error.data.httpStatus, error.data.code, error.message);
      throw new NotReachable(`the server at ${socketPath} does not answer: ${error.message}`, { cause: error });
    });
  return {
    status: () => explained(status.query()),
    listBots: () => explained(bots.list.query()),
    addBot: (newBot) => explained(bots.add.mutate(newBot)),
    changeBot: (botId, change) => explained(bots.change.mutate({ botId, change })),
    listReceipts: (query) => {
      const { outcome, since, ...rest } = query;
      if (outcome === "event") throw new Error("the server lists events by receipts.latest");
      return explained(receipts.list.query({ ...rest, outcome, since: since?.toISOString() }));
    },
    listRefusals: (since) => explained(receipts.refused.query({ since: since.toISOString() })),
    listRewards: (query) => explained(rewards.list.query(query)),
    getBalance: async (userId) => (await explained(rewards.balance.query({ userId }))).balance,
    eraseUser: (userId, isMeant) => explained(isMeant ? users.erase.mutate({ userId }) : users.kept.query({ userId })),
    close: () => agent.close(),
  };
}

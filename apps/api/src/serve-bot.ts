import type { Database } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import type { AdServiceClient } from "./ad-service-client.ts";
import type { Bot } from "./bots/bot.ts";
import { requestCode } from "./codes/request-code.ts";
import { getBalance, getRewardStatus, listRewards } from "./ledger/rewards.ts";
import { spend } from "./ledger/spend.ts";
import {
  isLedgerCursor,
  type LedgerHint,
  latestCursor,
  limitWatches,
  MAX_WATCHES_OF_NODE,
  startOfLedger,
  watchRewards,
} from "./ledger/watch-rewards.ts";
import { eraseUser } from "./users/erase-user.ts";
import type { Verbs } from "./verbs.ts";
import { countRefusals, type IntakeMetrics, type RefusalCounter } from "./webhook-intake/intake-metrics.ts";
import { listReceipts, listRefusals } from "./webhook-intake/list-receipts.ts";
import { type ReceiveWebhook, receiveWebhook } from "./webhook-intake/receive-webhook.ts";

export interface BotServerOptions {
  database: Database;
  /** The ad service as the bot of this token. */
  adServiceOf: (token: string) => Pick<AdServiceClient, "createCode">;
  links: { readonly miniappUrl: string; readonly directLinkUrl: string };
  logger: Logger;
  hint: LedgerHint;
  intake: IntakeMetrics;
  /** Ends watches, so that the server can close. */
  stopping: AbortSignal;
}

/** What one bot's callers reach. Each verb names the bot in every statement. */
interface BotServer {
  receive: ReceiveWebhook;
  refusals: RefusalCounter;
  verbs: Verbs;
}

export interface BotServers {
  of(bot: Bot): BotServer;
  /** The verbs on the records of a bot that is not served any more. */
  ofRemoved(botId: string): Verbs;
  /** Writes what is counted in memory. */
  flush(): Promise<void>;
}

/** Makes the server of a bot at its first use, and again after the bot was changed. */
export function botServers(options: BotServerOptions): BotServers {
  const { database, hint, intake, logger } = options;
  const servers = new WeakMap<Bot, BotServer>();
  const refusals = new Map<string, RefusalCounter>();
  const watchesOfNode = limitWatches(MAX_WATCHES_OF_NODE);

  function refusalsOf(botId: string): RefusalCounter {
    const counter = refusals.get(botId) ?? countRefusals(database, botId, logger);
    refusals.set(botId, counter);
    return counter;
  }

  function serverOf(bot: Bot): BotServer {
    const { id: botId, adApiTokens: tokens, payout, twoFieldEvents } = bot;
    const receive = receiveWebhook({
      database,
      botId,
      tokens,
      payout,
      twoFieldEvents,
      logger,
      onRecorded: hint.announce,
      onBatch: intake.recorded,
    });
    const counter = refusalsOf(botId);
    const verbs = verbsOf(options, bot, counter, watchesOfNode);
    return { receive: intake.measured(receive), refusals: intake.alsoCounting(counter), verbs };
  }

  return {
    of(bot) {
      const server = servers.get(bot) ?? serverOf(bot);
      servers.set(bot, server);
      return server;
    },
    ofRemoved: (botId) => verbsOf(options, { id: botId, ended: AbortSignal.abort() }, refusalsOf(botId), watchesOfNode),
    async flush() {
      await Promise.all([...refusals.values()].map((counter) => counter.flush()));
    },
  };
}

function verbsOf(
  { database, adServiceOf, links, logger, hint, intake, stopping }: BotServerOptions,
  bot: Bot | (Pick<Bot, "id" | "ended"> & { adApiTokens?: undefined }),
  refusals: RefusalCounter,
  watchesOfNode: ReturnType<typeof limitWatches>,
): Verbs {
  const { id: botId, ended } = bot;
  const watches = limitWatches();
  const onUnavailable = (facts: object) => logger.warn({ botId, ...facts }, "the ad service returned no code");
  return {
    async createCode(request) {
      if (!bot.adApiTokens) return { outcome: "unavailable", reason: "refused" };
      const adService = adServiceOf(bot.adApiTokens[0]);
      const ownLinks = { ...links, botUsername: bot.username, miniAppName: bot.miniAppName };
      return requestCode({ database, adService, botId, links: ownLinks, onUnavailable }, request);
    },
    isCursor: isLedgerCursor,
    getRewardStatus: (query) => getRewardStatus(database, botId, query),
    listRewards: (query) => listRewards(database, botId, query),
    getBalance: (userId) => getBalance(database, botId, userId),
    eraseUser: (userId, isMeant) => eraseUser(database, { botId, userId, isMeant }),
    async spend(order) {
      const outcome = await spend(database, botId, order);
      hint.announce();
      return outcome;
    },
    latestCursor: () => latestCursor(database),
    watchRewards({ from, includeTests }, signal) {
      const ofNode = watchesOfNode(async function* () {
        const start = from === "start" ? startOfLedger : from === "now" ? await latestCursor(database) : from.cursor;
        const until = AbortSignal.any(signal ? [stopping, ended, signal] : [stopping, ended]);
        yield* intake.watched(
          watchRewards(database, botId, { from: start, includeTests }, until, (milliseconds) =>
            hint.wait(milliseconds, until),
          ),
        );
      });
      return ofNode.outcome === "watching" ? watches(() => ofNode.entries) : ofNode;
    },
    listReceipts: (query) => listReceipts(database, botId, query),
    async listRefusals(since) {
      await refusals.flush();
      return listRefusals(database, botId, since);
    },
  };
}

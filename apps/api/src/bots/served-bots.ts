import { hkdfSync } from "node:crypto";
import { type Runner, statement } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import { type SecretBox, secretBox } from "@intermission/server/secret-box";
import { StartFault } from "@intermission/server/start-fault";
import { type Bot, hashOfKey, makeBot } from "./bot.ts";
import { type BotRow, openTokens, readBots } from "./bot-table.ts";

/** The bots that this process serves: the one of the environment, and those of the table. */
export interface ServedBots {
  get(botId: string): Bot | undefined;
  /** The bot whose backend has this key. */
  ofBackendKey(key: string): Bot | undefined;
  /** The bot of the environment variables. Addresses and calls that name no bot mean it. */
  readonly configured: Bot | undefined;
  all(): readonly Bot[];
  /** Ids of all bots, also of removed ones, whose ledger stays. */
  known(): readonly string[];
  /** Reads the table again if it has changed. */
  refresh(): Promise<void>;
}

interface Read {
  revision: number;
  bot: Bot | undefined;
  end: () => void;
}

const sumOfRevisions = statement<{ sum: number }>(
  "bot-table.sum-of-revisions",
  "select coalesce(sum(revision), 0)::bigint as sum from bots",
);

/** Seals the tokens with a key of its own, so that the ad service's ENCRYPTION_KEY may be the same. */
export function botSecretBox(encryptionKey: Uint8Array, previous?: Uint8Array): SecretBox {
  return secretBox(ownKeyOf(encryptionKey), previous && ownKeyOf(previous));
}

function ownKeyOf(encryptionKey: Uint8Array): Uint8Array {
  const salt = new Uint8Array();
  return new Uint8Array(hkdfSync("sha256", encryptionKey, salt, "intermission companion API bots v1", 32));
}

/** Reads the bots. Throws a `StartFault` if the key does not open the tokens of a bot. */
export async function openServedBots(options: {
  database: Pick<Runner, "run">;
  configured: Bot | undefined;
  box: SecretBox | undefined;
  logger: Pick<Logger, "warn" | "error">;
}): Promise<ServedBots> {
  const { database, configured, box, logger } = options;
  let read = new Map<string, Read>();
  let byKeyHash = new Map<string, Bot>();
  let all: readonly Bot[] = [];
  let lastSum = -1;
  let refreshing: Promise<void> = Promise.resolve();

  async function readAgain(onFault: (botId: string, fault: unknown) => void): Promise<void> {
    const [row] = await database.run(sumOfRevisions, []);
    const sum = row?.sum ?? 0;
    if (sum === lastSum) return;
    const rows = await readBots(database);
    const now = new Map<string, Read>();
    for (const row of rows) {
      const earlier = read.get(row.botId);
      if (earlier?.revision === row.revision) now.set(row.botId, earlier);
      else {
        earlier?.end();
        now.set(row.botId, readBot(row, box, onFault));
      }
    }
    read = now;
    const inTable = [...read.values()].flatMap(({ bot }) => (bot && bot.id !== configured?.id ? [bot] : []));
    all = configured ? [configured, ...inTable] : inTable;
    byKeyHash = new Map(all.toReversed().flatMap((bot) => bot.backendKeyHashes.map((hash) => [hash, bot] as const)));
    // Rows that were committed between the two statements are read again.
    lastSum = sum;
  }

  await readAgain((botId, fault) => {
    const reason = fault instanceof Error ? fault.message : String(fault);
    throw new StartFault(`the tokens of bot ${botId} cannot be read: ${reason}`);
  });
  if (configured && read.get(configured.id)?.bot) {
    logger.warn({ botId: configured.id }, "this bot is in the environment and in the table: the environment is used");
  }
  const onFault = (botId: string, err: unknown) => logger.error({ botId, err }, "a bot of the table cannot be served");
  return {
    configured,
    get: (botId) => (botId === configured?.id ? configured : read.get(botId)?.bot),
    // Only digests of random keys are compared, so the look-up's time reveals nothing of use.
    ofBackendKey: (key) => byKeyHash.get(hashOfKey(key)),
    all: () => all,
    known: () => [...new Set([...(configured ? [configured.id] : []), ...read.keys()])],
    refresh() {
      refreshing = refreshing.catch(() => {}).then(() => readAgain(onFault));
      return refreshing;
    },
  };
}

function readBot(row: BotRow, box: SecretBox | undefined, onFault: (botId: string, fault: unknown) => void): Read {
  const { revision } = row;
  const ended = new AbortController();
  const end = () => ended.abort();
  if (row.removedAt) return { revision, bot: undefined, end };
  try {
    if (!box) throw new Error("ENCRYPTION_KEY is missing, which sealed them");
    const secrets = { ...openTokens(box, row), backendKeyHashes: row.backendKeyHashes };
    const settings = {
      username: row.username,
      miniAppName: row.miniAppName,
      twoFieldEvents: row.twoFieldEvents,
      payout: {
        rewarded: row.rewardRewarded,
        directLink: row.rewardDirectLink,
        task: row.rewardTask,
        dailyCap: row.dailyCap ?? undefined,
        perCode: row.payPerCode,
      },
    };
    return { revision, bot: makeBot(row.botId, settings, secrets, ended.signal), end };
  } catch (fault) {
    onFault(row.botId, fault);
    return { revision, bot: undefined, end };
  }
}

import { type Database, openDatabase, statement } from "@intermission/postgres/open-database";
import { NotReachable, OperatorRefusal } from "@intermission/server/command-line";
import type { ClaimedFolder } from "@intermission/server/data-folder";
import { startFaultOf } from "@intermission/server/start-fault";
import { botVerbs } from "./bots/operate-bots.ts";
import { botSecretBox } from "./bots/served-bots.ts";
import type { CommandConfig } from "./config.ts";
import { getBalance, listRewards } from "./ledger/rewards.ts";
import { isLedgerCursor } from "./ledger/watch-rewards.ts";
import { migrations } from "./migrations.ts";
import { statusOf } from "./node-status.ts";
import type { OperatorClient } from "./operator-client.ts";
import { eraseUser } from "./users/erase-user.ts";
import { listReceipts, listRefusals } from "./webhook-intake/list-receipts.ts";

// Each API inserts a row for each of its bots when it starts.
const findBots = statement<{ botId: string }>(
  "bot-table.find-all",
  'select bot_id as "botId" from reconciliations union select bot_id from bots order by 1',
);

/** Serves the queries from this process, on the embedded store while no server runs, or on a shared database. */
export async function openStoreInProcess(
  { botId: named, encryptionKey, previousEncryptionKey, ...store }: CommandConfig,
  folder: ClaimedFolder | undefined,
): Promise<OperatorClient> {
  let database: Database | undefined;
  const close = async () => {
    await database?.close();
    await folder?.release();
  };
  try {
    database = await openDatabase({
      databaseUrl: store.databaseUrl,
      dataDirectory: store.dataDirectory,
      buffersMegabytes: store.buffersMegabytes,
      poolSize: store.poolSize,
      limits: store.databaseLimits,
      schema: "api",
      migrations,
      isExisting: true,
    });
    const opened = database;
    let found: Promise<string> | undefined;
    const bot = () => {
      found ??= botOf(opened, named);
      return found;
    };
    const box = encryptionKey && botSecretBox(encryptionKey, previousEncryptionKey);
    return {
      status: () => statusOf(opened),
      ...botVerbs({ database: opened, box, configured: undefined, onChange: async () => {} }),
      listReceipts: async (query) => listReceipts(opened, await bot(), query),
      listRefusals: async (since) => listRefusals(opened, await bot(), since),
      async listRewards(query) {
        if (query.cursor === undefined || isLedgerCursor(query.cursor)) return listRewards(opened, await bot(), query);
        throw new OperatorRefusal(
          400,
          "BAD_REQUEST",
          `${query.cursor} is not a cursor of this ledger: --cursor takes the one that an earlier list ended with`,
        );
      },
      getBalance: async (userId) => getBalance(opened, await bot(), userId),
      eraseUser: async (userId, isMeant) => eraseUser(opened, { botId: await bot(), userId, isMeant }),
      close,
    };
  } catch (error) {
    await close();
    const fault = startFaultOf(error);
    throw fault === undefined ? error : new NotReachable(fault, { cause: error });
  }
}

async function botOf(database: Database, named: string | undefined): Promise<string> {
  const bots = (await database.run(findBots, [])).map(({ botId }) => botId);
  const [only] = bots;
  if (named !== undefined && bots.includes(named)) return named;
  if (named !== undefined && only !== undefined) {
    throw new NotReachable(`the store has no bot ${named}, which BOT_ID selects; it has ${bots.join(", ")}`);
  }
  if (only !== undefined && bots.length === 1) return only;
  if (only === undefined)
    throw new NotReachable(
      "the store has no bot yet: add one (pnpm api bots add), or start the companion API with BOT_ID",
    );
  throw new NotReachable(`the store holds several bots (${bots.join(", ")}): select one by BOT_ID`);
}

import { randomBytes } from "node:crypto";
import { type Database, type Runner, statement } from "@intermission/postgres/open-database";
import { byColumn, type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { SecretBox } from "@intermission/server/secret-box";
import { hashOfKey } from "./bot.ts";
import type { BotAnswer, BotChange, BotSettings, ListedBot, NewBot, SettingsChange } from "./bot-records.ts";

export interface BotRow extends BotSettings {
  botId: string;
  addedAt: Date;
  removedAt: Date | null;
  revision: number;
  sealedTokens: Buffer | null;
  backendKeyHashes: string[];
}

/** The plain text of `sealedTokens`. */
export interface Tokens {
  adApiTokens: [string, ...string[]];
  telegramBotToken: string;
}

/** Each node keeps every bot in memory. */
const MAX_BOTS = 10_000;
/** The newest, and the one before it during a rotation. */
const MAX_SECRETS = 2;

const settingColumns = {
  username: "username",
  miniAppName: "mini_app_name",
  rewardRewarded: "reward_rewarded",
  rewardDirectLink: "reward_direct_link",
  rewardTask: "reward_task",
  dailyCap: "daily_cap",
  payPerCode: "pay_per_code",
  twoFieldEvents: "two_field_events",
} satisfies ColumnsOf<BotSettings>;
const columns = {
  botId: "bot_id",
  addedAt: "added_at",
  removedAt: "removed_at",
  revision: "revision",
  sealedTokens: "sealed_tokens",
  backendKeyHashes: "backend_key_hashes",
  ...settingColumns,
} satisfies ColumnsOf<BotRow>;
const readRows = statement<BotRow>("bot-table.read", `select ${selected(columns)} from bots order by bot_id`);
// Changes are rare: one at a time, so that two of them do not see the same token as unused. Readers do not wait.
const lockChanges = statement<never>("bot-table.lock", "select pg_advisory_xact_lock(hashtextextended('bots', 0))");
const writtenColumns = ["sealed_tokens", "backend_key_hashes", ...Object.values(settingColumns)];
// $1: the bot's id. $2: whether it is removed. The others are in the order of the columns.
const writeRow = statement<BotRow>(
  "bot-table.write",
  `insert into bots as kept (bot_id, removed_at, ${writtenColumns.join(", ")})
values ($1, case when $2::boolean then now() end, ${writtenColumns.map((_, index) => `$${index + 3}`).join(", ")})
on conflict (bot_id) do update set revision = kept.revision + 1, removed_at = excluded.removed_at,
  ${writtenColumns.map((column) => `${column} = excluded.${column}`).join(", ")}
returning ${selected(columns)}`,
);

export function readBots(runner: Pick<Runner, "run">): Promise<BotRow[]> {
  return runner.run(readRows, []);
}

export function openTokens(box: SecretBox, row: Pick<BotRow, "botId" | "sealedTokens">): Tokens {
  if (row.sealedTokens === null) throw new Error(`bot ${row.botId} has no tokens`);
  return JSON.parse(box.open(row.sealedTokens, row.botId));
}

const defaults: BotSettings = {
  username: null,
  miniAppName: null,
  rewardRewarded: 1,
  rewardDirectLink: 1,
  rewardTask: 1,
  dailyCap: null,
  payPerCode: "once",
  twoFieldEvents: "off",
};

/** Adds a bot, or a removed one again: its ledger goes on. The answer has the key of its backend. */
export function addBot(
  database: Pick<Database, "transaction">,
  box: SecretBox,
  { botId, adToken, telegramToken, settings }: NewBot,
): Promise<BotAnswer> {
  return database.transaction(async (tx) => {
    await tx.run(lockChanges, []);
    const rows = await readBots(tx);
    const earlier = rows.find((row) => row.botId === botId);
    if (earlier && !earlier.removedAt) return refused("CONFLICT", `bot ${botId} is in the table already`);
    if (rows.length >= MAX_BOTS) return refused("CONFLICT", `the table holds ${MAX_BOTS} bots, which is the limit`);
    const fault = faultOfTelegramToken(botId, telegramToken) ?? faultOfAdToken(box, rows, botId, adToken);
    if (fault) return fault;
    const backendApiKey = newKey();
    const tokens: Tokens = { adApiTokens: [adToken], telegramBotToken: telegramToken };
    const bot = await write(tx, box, botId, tokens, [hashOfKey(backendApiKey)], changed(defaults, settings));
    return { outcome: "done", bot, backendApiKey };
  });
}

/** Changes one bot of the table. Without the key that sealed its tokens, only its removal is possible. */
export function changeBot(
  database: Pick<Database, "transaction">,
  box: SecretBox | undefined,
  botId: string,
  change: BotChange,
): Promise<BotAnswer> {
  return database.transaction(async (tx): Promise<BotAnswer> => {
    await tx.run(lockChanges, []);
    const rows = await readBots(tx);
    const row = rows.find((row) => row.botId === botId);
    if (!row || row.removedAt) return refused("NOT_FOUND", `the table has no bot ${botId}`);
    const settings = settingsOf(row);
    if (change.kind === "removal")
      return { outcome: "done", bot: await write(tx, box, botId, undefined, [], settings) };
    if (!box) return refused("BAD_REQUEST", "ENCRYPTION_KEY is needed, which sealed the bot's tokens");
    const tokens = openTokens(box, row);
    const hashes = row.backendKeyHashes;
    switch (change.kind) {
      case "settings": {
        const settingsNow = changed(settings, change.settings);
        return { outcome: "done", bot: await write(tx, box, botId, tokens, hashes, settingsNow) };
      }
      case "backend-key": {
        const backendApiKey = newKey();
        const kept = newestOf([hashOfKey(backendApiKey), ...hashes], change.dropsPrevious);
        return { outcome: "done", bot: await write(tx, box, botId, tokens, kept, settings), backendApiKey };
      }
      case "ad-token": {
        const fault = faultOfAdToken(box, rows, botId, change.token);
        if (fault) return fault;
        const others = tokens.adApiTokens.filter((token) => token !== change.token);
        const adApiTokens = newestOf([change.token, ...others], change.dropsPrevious);
        return { outcome: "done", bot: await write(tx, box, botId, { ...tokens, adApiTokens }, hashes, settings) };
      }
      case "telegram-token": {
        const fault = faultOfTelegramToken(botId, change.token);
        if (fault) return fault;
        const tokensNow = { ...tokens, telegramBotToken: change.token };
        return { outcome: "done", bot: await write(tx, box, botId, tokensNow, hashes, settings) };
      }
    }
  });
}

async function write(
  tx: Pick<Runner, "run">,
  box: SecretBox | undefined,
  botId: string,
  tokens: Tokens | undefined,
  hashes: readonly string[],
  settings: BotSettings,
): Promise<ListedBot> {
  const sealed = tokens && box ? box.seal(JSON.stringify(tokens), botId) : null;
  const values = [sealed, [...hashes], ...Object.values(byColumn(settingColumns, settings))];
  const [row] = await tx.run(writeRow, [botId, tokens === undefined, ...values]);
  if (!row) throw new Error("the bot's row was not written");
  return listedBot(row, tokens);
}

export function listedBot(row: BotRow, tokens: Tokens | undefined): ListedBot {
  return {
    botId: row.botId,
    state: row.removedAt ? "removed" : "served",
    ...settingsOf(row),
    adTokens: tokens?.adApiTokens.length ?? 0,
    backendKeys: row.backendKeyHashes.length,
    addedAt: row.addedAt.toISOString(),
    removedAt: row.removedAt?.toISOString() ?? null,
  };
}

function settingsOf(row: BotRow): BotSettings {
  return {
    username: row.username,
    miniAppName: row.miniAppName,
    rewardRewarded: row.rewardRewarded,
    rewardDirectLink: row.rewardDirectLink,
    rewardTask: row.rewardTask,
    dailyCap: row.dailyCap,
    payPerCode: row.payPerCode,
    twoFieldEvents: row.twoFieldEvents,
  };
}

function changed(settings: BotSettings, change: SettingsChange): BotSettings {
  return { ...settings, ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) };
}

function newKey(): string {
  return randomBytes(32).toString("base64url");
}

function newestOf(secrets: readonly [string, ...string[]], dropsPrevious: boolean): [string, ...string[]] {
  const [newest, ...earlier] = secrets;
  return [newest, ...earlier.slice(0, dropsPrevious ? 0 : MAX_SECRETS - 1)];
}

function faultOfTelegramToken(botId: string, token: string): BotAnswer | undefined {
  if (token.startsWith(`${botId}:`)) return undefined;
  return refused("BAD_REQUEST", `the Telegram token is of another bot: it does not begin with ${botId}:`);
}

/** The signature tells bots apart, so two bots never share a token. */
function faultOfAdToken(box: SecretBox, rows: readonly BotRow[], botId: string, token: string): BotAnswer | undefined {
  const owner = rows.find(
    (row) => row.botId !== botId && row.sealedTokens && openTokens(box, row).adApiTokens.includes(token),
  );
  return owner && refused("CONFLICT", `this is the ad service's token of bot ${owner.botId}`);
}

function refused(code: "NOT_FOUND" | "CONFLICT" | "BAD_REQUEST", message: string): BotAnswer {
  return { outcome: "refused", code, message };
}

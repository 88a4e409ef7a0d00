import { randomBytes } from "node:crypto";
import { type Database, type Runner, statement } from "@intermission/postgres/open-database";
import { byColumn, type ColumnsOf } from "@intermission/postgres/row-columns";
import type { SecretBox } from "@intermission/server/secret-box";
import { hashOfKey } from "./bot.ts";
import type { BotAnswer, BotChange, BotSettings, ListedBot, NewBot, SettingsChange } from "./bot-records.ts";

export interface BotRow {
  bot_id: string;
  added_at: Date;
  removed_at: Date | null;
  revision: number;
  sealed_tokens: Buffer | null;
  backend_key_hashes: string[];
  username: string | null;
  mini_app_name: string | null;
  reward_rewarded: number;
  reward_direct_link: number;
  daily_cap: number | null;
  pay_per_code: "once" | "each";
  two_field_events: "off" | "match";
}

/** The plain text of `sealed_tokens`. */
export interface Tokens {
  adApiTokens: [string, ...string[]];
  telegramBotToken: string;
}

/** Each node keeps every bot in memory. */
const maxBots = 10_000;
/** The newest, and the one before it during a rotation. */
const maxSecrets = 2;

// Changes are rare: one at a time, so that two of them do not see the same token as unused. Readers do not wait.
const lockChanges = statement<unknown>("lock-bots", "select pg_advisory_xact_lock(hashtextextended('bots', 0))");
const settingColumns = {
  username: "username",
  miniAppName: "mini_app_name",
  rewardRewarded: "reward_rewarded",
  rewardDirectLink: "reward_direct_link",
  dailyCap: "daily_cap",
  payPerCode: "pay_per_code",
  twoFieldEvents: "two_field_events",
} satisfies ColumnsOf<BotSettings>;
const writtenColumns = ["sealed_tokens", "backend_key_hashes", ...Object.values(settingColumns)];
// Not "*": a session could no longer run it after a later version has added a column.
const rowColumns = ["bot_id", "added_at", "removed_at", "revision", ...writtenColumns].join(", ");
const readRows = statement<BotRow>("read-bots", `select ${rowColumns} from bots order by bot_id`);
// $1: the bot's id. $2: whether it is removed. The others are in the order of the columns.
const writeRow = statement<BotRow>(
  "write-bot",
  `insert into bots as kept (bot_id, removed_at, ${writtenColumns.join(", ")})
values ($1, case when $2::boolean then now() end, ${writtenColumns.map((_, index) => `$${index + 3}`).join(", ")})
on conflict (bot_id) do update set revision = kept.revision + 1, removed_at = excluded.removed_at,
  ${writtenColumns.map((column) => `${column} = excluded.${column}`).join(", ")}
returning ${rowColumns}`,
);

export function readBots(runner: Pick<Runner, "run">): Promise<BotRow[]> {
  return runner.run(readRows, []);
}

export function openTokens(box: SecretBox, row: Pick<BotRow, "bot_id" | "sealed_tokens">): Tokens {
  if (row.sealed_tokens === null) throw new Error(`bot ${row.bot_id} has no tokens`);
  return JSON.parse(box.open(row.sealed_tokens, row.bot_id));
}

const defaults: BotSettings = {
  username: null,
  miniAppName: null,
  rewardRewarded: 1,
  rewardDirectLink: 1,
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
    const earlier = rows.find(({ bot_id }) => bot_id === botId);
    if (earlier && !earlier.removed_at) return refused("CONFLICT", `bot ${botId} is in the table already`);
    if (rows.length >= maxBots) return refused("CONFLICT", `the table holds ${maxBots} bots, which is the limit`);
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
    const row = rows.find(({ bot_id }) => bot_id === botId);
    if (!row || row.removed_at) return refused("NOT_FOUND", `the table has no bot ${botId}`);
    const settings = settingsOf(row);
    if (change.kind === "removal")
      return { outcome: "done", bot: await write(tx, box, botId, undefined, [], settings) };
    if (!box) return refused("BAD_REQUEST", "ENCRYPTION_KEY is needed, which sealed the bot's tokens");
    const tokens = openTokens(box, row);
    const hashes = row.backend_key_hashes;
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
    botId: row.bot_id,
    state: row.removed_at ? "removed" : "served",
    ...settingsOf(row),
    adTokens: tokens?.adApiTokens.length ?? 0,
    backendKeys: row.backend_key_hashes.length,
    addedAt: row.added_at.toISOString(),
    removedAt: row.removed_at?.toISOString() ?? null,
  };
}

function settingsOf(row: BotRow): BotSettings {
  return {
    username: row.username,
    miniAppName: row.mini_app_name,
    rewardRewarded: row.reward_rewarded,
    rewardDirectLink: row.reward_direct_link,
    dailyCap: row.daily_cap,
    payPerCode: row.pay_per_code,
    twoFieldEvents: row.two_field_events,
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
  return [newest, ...earlier.slice(0, dropsPrevious ? 0 : maxSecrets - 1)];
}

function faultOfTelegramToken(botId: string, token: string): BotAnswer | undefined {
  if (token.startsWith(`${botId}:`)) return undefined;
  return refused("BAD_REQUEST", `the Telegram token is of another bot: it does not begin with ${botId}:`);
}

/** The signature tells bots apart, so two bots never share a token. */
function faultOfAdToken(box: SecretBox, rows: readonly BotRow[], botId: string, token: string): BotAnswer | undefined {
  const owner = rows.find(
    (row) => row.bot_id !== botId && row.sealed_tokens && openTokens(box, row).adApiTokens.includes(token),
  );
  return owner && refused("CONFLICT", `this is the ad service's token of bot ${owner.bot_id}`);
}

function refused(code: "NOT_FOUND" | "CONFLICT" | "BAD_REQUEST", message: string): BotAnswer {
  return { outcome: "refused", code, message };
}

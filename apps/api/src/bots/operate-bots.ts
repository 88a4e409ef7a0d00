import { payPerCode } from "@intermission/ad-core/client-words";
import { telegramId } from "@intermission/ad-core/wire-fields";
import type { Database } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";
import { telegramBotToken } from "@intermission/server/settings";
import { z } from "zod";
import type { Bot } from "./bot.ts";
import type { BotAnswer, BotVerbs, ListedBot } from "./bot-records.ts";
import { twoFieldModes } from "./bot-records.ts";
import { addBot, type BotRow, changeBot, listedBot, openTokens, readBots, type Tokens } from "./bot-table.ts";

const units = z.int().min(0).max(1_000_000);

const settings = z
  .object({
    username: z
      .string()
      .regex(/^\w{4,32}$/, "is the name without @")
      .nullable(),
    miniAppName: z
      .string()
      .regex(/^\w{3,30}$/, "is the short name that @BotFather was given")
      .nullable(),
    rewardRewarded: units,
    rewardDirectLink: units,
    rewardTask: units,
    dailyCap: z.int().min(1).max(1_000_000).nullable(),
    payPerCode,
    twoFieldEvents: z.enum(twoFieldModes),
  })
  .partial();

const adToken = z.string().regex(/^[\x21-\x7e]{16,512}$/, "has at least 16 characters and no spaces");
const botChange = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("settings"), settings }),
  z.object({ kind: z.literal("backend-key"), dropsPrevious: z.boolean() }),
  z.object({ kind: z.literal("ad-token"), token: adToken, dropsPrevious: z.boolean() }),
  z.object({ kind: z.literal("telegram-token"), token: telegramBotToken }),
  z.object({ kind: z.literal("removal") }),
]);

const newBot = z.object({ botId: telegramId, adToken, telegramToken: telegramBotToken, settings });

/** The operator's view of the table. After each change `onChange` runs before the answer. */
export function botVerbs(options: {
  database: Database;
  box: SecretBox | undefined;
  configured: Bot | undefined;
  onChange: () => Promise<void>;
}): BotVerbs {
  const { database, box, configured, onChange } = options;
  // The table's own tokens are compared in the table's transaction.
  const isOfConfigured = (botId: string, token: string) =>
    configured !== undefined && configured.id !== botId && configured.adApiTokens.includes(token);
  // A row of the configured bot is stored, and is not used before the variables are gone.
  const stated = (answer: BotAnswer): BotAnswer =>
    answer.outcome === "done" && answer.bot.botId === configured?.id
      ? { ...answer, bot: { ...answer.bot, state: "environment" } }
      : answer;
  return {
    async listBots() {
      const rows = await readBots(database);
      const listed = rows.map((row) => listedBot(row, tokensOf(box, row)));
      if (!configured) return listed;
      return [listedConfigured(configured), ...listed.filter(({ botId }) => botId !== configured.id)];
    },
    async addBot(input) {
      if (!box) {
        const message = "ENCRYPTION_KEY is missing, which seals the bots' tokens: set it and start the server again";
        return { outcome: "refused", code: "BAD_REQUEST", message };
      }
      const read = newBot.safeParse(input);
      if (!read.success) return faultsIn(read.error);
      if (isOfConfigured(read.data.botId, read.data.adToken)) return sharedToken;
      const answer = await addBot(database, box, read.data);
      await onChange();
      return stated(answer);
    },
    async changeBot(botId, change) {
      const read = botChange.safeParse(change);
      if (!read.success) return faultsIn(read.error);
      const { data } = read;
      if (data.kind === "ad-token" && isOfConfigured(botId, data.token)) return sharedToken;
      const answer = await changeBot(database, box, botId, data);
      await onChange();
      return stated(answer);
    },
  };
}

const sharedToken: BotAnswer = {
  outcome: "refused",
  code: "CONFLICT",
  message: "this is the ad service's token of the environment's bot",
};

function faultsIn({ issues }: z.ZodError): BotAnswer {
  const faults = issues.map(({ path, message }) => `${String(path.at(-1) ?? "input")}: ${message}`);
  return { outcome: "refused", code: "BAD_REQUEST", message: faults.join("; ") };
}

function tokensOf(box: SecretBox | undefined, row: BotRow): Tokens | undefined {
  try {
    return box && row.sealedTokens ? openTokens(box, row) : undefined;
  } catch {
    return undefined;
  }
}

function listedConfigured({ id, payout, ...bot }: Bot): ListedBot {
  return {
    botId: id,
    state: "environment",
    username: bot.username,
    miniAppName: bot.miniAppName,
    rewardRewarded: payout.rewarded,
    rewardDirectLink: payout.directLink,
    rewardTask: payout.task,
    dailyCap: payout.dailyCap ?? null,
    payPerCode: payout.perCode,
    twoFieldEvents: bot.twoFieldEvents,
    adTokens: bot.adApiTokens.length,
    backendKeys: bot.backendKeyHashes.length,
    addedAt: null,
    removedAt: null,
  };
}

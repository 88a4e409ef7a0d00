import { randomBytes } from "node:crypto";
import { CODE_RANDOM_BYTES, newCodePrefix } from "@intermission/ad-core/code";
import type { Bot, BotSettings, TokenEntry } from "@intermission/operator-api/bots";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { byColumn } from "@intermission/postgres/row-columns";
import { hasVersion, nextVersion } from "@intermission/postgres/row-version";
import { invalidField } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { spellAdvertisers } from "../advertisers/advertisers.ts";
import { settingColumns } from "./bot-settings.ts";
import { type Bots, forgetBot, readBot } from "./bots.ts";
import { insertToken } from "./tokens.ts";

/**
 * Initial state of an endpoint whose address changed or that is enabled again: no results yet, and a test due now. Equal to
 * the defaults of the table.
 */
export const pendingEndpoint = {
  state: "pending",
  disabled_reason: null,
  backoff_until: Number.NEGATIVE_INFINITY,
  breaker: "closed",
  probe_at: Number.NEGATIVE_INFINITY,
  probe_failures: 0,
  probe_successes: 0,
  failures_in_row: 0,
  window_started_at: Number.NEGATIVE_INFINITY,
  window_attempts: 0,
  window_failures: 0,
  last_success_at: null,
  last_failure_at: null,
  failing_since: null,
  failures_since_success: 0,
  warned_percent: 0,
  gone_since: null,
  gone_event_id: null,
  is_gone_for_several: false,
  last_status: null,
  last_error_class: null,
  last_answer: null,
  answer_warning: null,
  accepts_wrong_signature: false,
  test_event_id: null,
  tests: 0,
  is_tested_for_event: false,
} as const;

const pendingColumns = ["url", "state_since", "test_due_at", ...Object.keys(pendingEndpoint)];
// Deliveries under way finish unchanged: their count is kept, so that the limit applies during the change.
const upsertEndpoint = statement<never>(
  "bots.set-endpoint",
  `insert into endpoints (bot_id, url, state) values ($1, $2, 'pending')
   on conflict (bot_id) do update set version = endpoints.version + 1,
     ${pendingColumns.map((column) => `${column} = excluded.${column}`).join(", ")}
   where endpoints.url <> excluded.url`,
);
const insertClaims = statement<never>(
  "bots.insert-endpoint-claims",
  "insert into endpoint_claims (bot_id) values ($1) on conflict do nothing",
);
const deleteEndpoint = statement<never>("bots.delete-endpoint", "delete from endpoints where bot_id = $1");

/**
 * Sets the address of a bot's webhooks. A new or changed address is `pending` until it passes a test; setting the same
 * address again changes nothing. Null removes the endpoint: unsent events are held until there is one.
 */
async function setEndpoint(tx: Transaction, botId: string, url: string | null): Promise<void> {
  if (url === null) {
    await tx.run(deleteEndpoint, [botId]);
    return;
  }
  await tx.run(upsertEndpoint, [botId, url]);
  await tx.run(insertClaims, [botId]);
}

const insertBot = statement<{ botId: string }>(
  "bots.insert",
  `insert into bots (bot_id, code_prefix, name, created_at, updated_at) values ($1, $2, $3, $4, $4)
   on conflict (bot_id) do nothing returning bot_id as "botId"`,
);

const settable = [...Object.values(settingColumns), "is_suspended"].join(", ");
// $2: the changed settings by column, as JSON. The row supplies the others. $4: the version that is changed; null: any.
const changeSettings = statement<{ hasUnit: boolean }>(
  "bots.change-settings",
  `update bots set (updated_at, ${settable}) =
     (select ${nextVersion("bots", "$3")}, ${settable} from jsonb_populate_record(bots, $2::jsonb))
   where bot_id = $1 and ${hasVersion("bots", "$4")}
   returning reward_unit is not null or reward_per_view is null and reward_per_click is null as "hasUnit"`,
);

interface BotChange {
  botId: string;
  settings: Partial<BotSettings> & { isSuspended?: boolean };
  expectedUpdatedAt?: Date | undefined;
  author?: Author | undefined;
  now: Date;
}

/** Returns false if there is no such bot, or none of the expected version. Omitted settings stay unchanged. */
async function setSettings(tx: Transaction, { botId, settings, expectedUpdatedAt, now }: BotChange): Promise<boolean> {
  const { blockedAdvertisers: blocked, webhookUrl } = settings;
  const spelled = blocked && { blockedAdvertisers: await spellAdvertisers(tx, blocked) };
  const columns = { ...byColumn(settingColumns, { ...settings, ...spelled }), is_suspended: settings.isSuspended };
  const [changed] = await tx.run(changeSettings, [botId, JSON.stringify(columns), now, expectedUpdatedAt]);
  if (changed && !changed.hasUnit) {
    const message = "must be set while a view or a click has a reward";
    throw invalidField("rewardUnit", message, fieldFault("REWARD_NEEDS_UNIT"));
  }
  if (changed && webhookUrl !== undefined) await setEndpoint(tx, botId, webhookUrl);
  return changed !== undefined;
}

type AddBotOutcome =
  /** The token itself is returned only once, here. */
  { outcome: "added"; bot: Bot; entry: TokenEntry; token: string } | { outcome: "bot-exists" };

/** Creates the bot and its first token in one commit. Omitted settings get the tables' defaults. */
export async function addBot(
  { bots, secretBox }: { bots: Bots; secretBox: SecretBox },
  input: Pick<BotChange, "botId" | "author" | "now"> & { settings: Partial<BotSettings> },
): Promise<AddBotOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await addOnce({ bots, secretBox }, input);
    } catch (error) {
      // A prefix has 23 random bits: with many bots, collisions happen now and then.
      const isPrefixTaken =
        error instanceof Error && "constraint" in error && error.constraint === "bots_code_prefix_key";
      if (!isPrefixTaken || attempt === 10) throw error;
    }
  }
}

async function addOnce(
  { bots, secretBox }: { bots: Bots; secretBox: SecretBox },
  { botId, settings, author, now }: Parameters<typeof addBot>[1],
): Promise<AddBotOutcome> {
  const outcome = await bots.database.transaction<AddBotOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    const codePrefix = newCodePrefix(randomBytes(CODE_RANDOM_BYTES));
    const [added] = await tx.run(insertBot, [botId, codePrefix, settings.name ?? `Bot ${botId}`, now]);
    if (!added) return { outcome: "bot-exists" };
    await setSettings(tx, { botId, settings, now });
    const bot = await readBot(tx, botId);
    if (!bot) throw new Error("the bot disappeared while it was added");
    const token = await insertToken(tx, secretBox, { botId, state: "active", now });
    await audit(tx, change);
    return { outcome: "added", bot, ...token };
  });
  forgetBot(bots, botId);
  return outcome;
}

export type UpdateBotOutcome =
  | { outcome: "updated"; bot: Bot }
  | { outcome: "unknown-bot" }
  | { outcome: "changed-since" };

/**
 * Settings that are not given stay unchanged. Events held because no address was set are sent once the new one passes
 * its test. `expectedUpdatedAt`: nothing is changed if the bot was changed after it.
 */
export async function updateBot(bots: Bots, change: BotChange): Promise<UpdateBotOutcome> {
  const { botId, author } = change;
  const outcome = await bots.database.transaction<UpdateBotOutcome>(async (tx) => {
    const opened = await openChange(tx, author, botId);
    const isChanged = await setSettings(tx, change);
    const bot = await readBot(tx, botId);
    if (!bot) return { outcome: "unknown-bot" };
    if (!isChanged) return { outcome: "changed-since" };
    await audit(tx, opened);
    return { outcome: "updated", bot };
  });
  forgetBot(bots, botId);
  return outcome;
}

/**
 * No ad of its codes starts, no click counts, and its publisher receives 403. An ad that plays already is paid when it was
 * watched, and what is earned is delivered.
 */
export function suspendBot(bots: Bots, of: Pick<BotChange, "botId" | "author" | "now">) {
  return updateBot(bots, { ...of, settings: { isSuspended: true } });
}

export function resumeBot(bots: Bots, of: Pick<BotChange, "botId" | "author" | "now">) {
  return updateBot(bots, { ...of, settings: { isSuspended: false } });
}

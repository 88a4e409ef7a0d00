import { type Database, statement } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";
import { z } from "zod";
import type { GuardedRequests } from "../outbound/guarded-request.ts";

/** Telegram's answer to a call of the Bot API. */
export type BotApiAnswer =
  | { outcome: "ok"; result: unknown }
  /** 400 to 499 but 429: the call itself cannot succeed now. `movedTo`: the group is a supergroup now, with this id. */
  | { outcome: "refused"; status: number; description: string; movedTo?: string }
  /** 429: too many calls. Nothing is sent for this bot before. */
  | { outcome: "busy"; retryAfterSeconds: number }
  /** No answer, one that is none, or a fault of Telegram's. Whether the call had an effect is not known. */
  | { outcome: "unreachable"; reason: string };

export interface BotApiDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  /** Such as https://api.telegram.org. */
  telegramApiUrl: string;
}

const envelope = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  description: z.string().default(""),
  parameters: z
    .object({
      retry_after: z.number().positive().optional(),
      migrate_to_chat_id: z.int().negative().transform(String).optional(),
    })
    .optional(),
});

const MAX_ANSWER_BYTES = 4_000_000;
/** Telegram names the pause; without one, this. */
const USUAL_PAUSE_SECONDS = 5;

/** Calls one method with a bot's token. Throws only the reason of an aborted signal, and for faults of this code. */
export async function callBotApi(
  { requests, telegramApiUrl }: BotApiDeps,
  {
    token,
    method,
    fields,
    signal,
  }: { token: string; method: string; fields: object; signal?: AbortSignal | undefined },
): Promise<BotApiAnswer> {
  const answer = await requests.guardedRequest({
    purpose: "webhook",
    method: "POST",
    url: `${telegramApiUrl}/bot${token}/${method}`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
    maxBodyBytes: MAX_ANSWER_BYTES,
    ...(signal && { signal }),
  });
  if (answer.outcome === "failed") return { outcome: "unreachable", reason: answer.errorClass };
  // Only the body of a success is returned whole; a refusal is short.
  const read = readEnvelope(answer.body === undefined ? answer.text : Buffer.from(answer.body).toString("utf8"));
  if (answer.status === 429) {
    const retryAfterSeconds = read?.parameters?.retry_after ?? USUAL_PAUSE_SECONDS;
    return { outcome: "busy", retryAfterSeconds };
  }
  if (read === undefined || answer.status >= 500) return { outcome: "unreachable", reason: `status ${answer.status}` };
  if (read.ok) return { outcome: "ok", result: read.result };
  const movedTo = read.parameters?.migrate_to_chat_id;
  return { outcome: "refused", status: answer.status, description: read.description, ...(movedTo && { movedTo }) };
}

function readEnvelope(text: string) {
  try {
    const read = envelope.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

/** What calls of the stored task bots need. */
export interface TaskBotCalls extends BotApiDeps {
  database: Database;
  secretBox: SecretBox;
}

const readBot = statement<{ token: Buffer; pauseSeconds: number }>(
  "tasks.read-bot",
  `select token, extract(epoch from greatest(quiet_until, now()) - now())::float8 as "pauseSeconds" from task_bots
   where task_bot_id = $1`,
);
const keepQuiet = statement<never>(
  "tasks.keep-quiet",
  "update task_bots set quiet_until = greatest(quiet_until, now() + make_interval(secs => $2)) where task_bot_id = $1",
);

/** The token of a stored task bot. */
export async function tokenOf({ database, secretBox }: TaskBotCalls, taskBotId: string): Promise<string> {
  const [bot] = await database.run(readBot, [taskBotId]);
  if (bot === undefined) throw new Error(`there is no task bot ${taskBotId}`);
  return secretBox.open(bot.token, taskBotId);
}

export async function isTaskBot(database: Pick<Database, "run">, taskBotId: string): Promise<boolean> {
  return (await database.run(readBot, [taskBotId])).length > 0;
}

/** A call of a stored task bot. A pause that Telegram asked for holds for all nodes, and is answered without a call. */
export async function callTaskBot(
  calls: TaskBotCalls,
  { taskBotId, ...call }: { taskBotId: string; method: string; fields: object; signal?: AbortSignal | undefined },
): Promise<BotApiAnswer> {
  const [bot] = await calls.database.run(readBot, [taskBotId]);
  if (bot === undefined) throw new Error(`there is no task bot ${taskBotId}`);
  if (bot.pauseSeconds > 0) return { outcome: "busy", retryAfterSeconds: bot.pauseSeconds };
  const answer = await callBotApi(calls, { token: calls.secretBox.open(bot.token, taskBotId), ...call });
  if (answer.outcome === "busy") await calls.database.run(keepQuiet, [taskBotId, answer.retryAfterSeconds]);
  return answer;
}

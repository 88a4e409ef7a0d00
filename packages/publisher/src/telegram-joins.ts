import type { PendingJoin } from "./join-store.ts";

/** What happens to a request to join. `queue`: the other administrators decide. */
export type JoinDecision = "approve" | "queue" | "decline";

export type TelegramCalls = (method: string, fields: object) => Promise<void>;

/** Calls of the Bot API by name: versions of grammY before Bot API 10.1 send them as well. */
export function telegramCalls(raw: object): TelegramCalls {
  const methods = raw as Readonly<Record<string, ((fields: object) => Promise<unknown>) | undefined>>;
  return async (method, fields) => void (await methods[method]?.(fields));
}

interface Refusal {
  readonly status: number;
  readonly description: string;
}

/** Telegram's refusal, as grammY throws it. Undefined: it was not reached, is busy, or something else failed. */
export function refusalOf(error: unknown): Refusal | undefined {
  const { error_code: status, description } = Object(error) as { error_code?: unknown; description?: unknown };
  if (typeof status !== "number" || status === 429 || status >= 500) return undefined;
  return { status, description: String(description) };
}

/** Nobody waits any more: decided before, by an administrator or by a call whose answer was lost, or withdrawn. */
const isOver = ({ description }: Refusal) => /USER_ALREADY_PARTICIPANT|HIDE_REQUESTER_MISSING/.test(description);

/** Of a request without a query, which the administrators see from the beginning. */
const methods = {
  approve: "approveChatJoinRequest",
  decline: "declineChatJoinRequest",
  queue: undefined,
} satisfies Record<JoinDecision, string | undefined>;

/**
 * Decides a request to join, once: a request that is over counts as decided. Rejects if Telegram was not reached, and if it
 * refuses for another reason, such as a right that the bot has lost.
 */
export async function decideJoin(
  telegram: TelegramCalls,
  { chatId, userId, queryId }: Pick<PendingJoin, "chatId" | "userId" | "queryId">,
  decision: JoinDecision,
): Promise<void> {
  if (queryId !== undefined) {
    try {
      return await telegram("answerChatJoinRequestQuery", {
        chat_join_request_query_id: queryId,
        result: decision,
      });
    } catch (error) {
      // Of a query that is too old, or was queued, the request itself may still wait.
      if (refusalOf(error) === undefined) throw error;
    }
  }
  const method = methods[decision];
  if (method === undefined) return;
  try {
    await telegram(method, { chat_id: Number(chatId), user_id: Number(userId) });
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal || !isOver(refusal)) throw error;
  }
}

import { z } from "zod";
import type { JoinAnswer } from "../channel/private-channel.ts";
import { type BotApiCall, parse, requireMiniapp } from "./bot-api-call.ts";

const query = z.object({ chat_join_request_query_id: z.string().min(1) });
const shown = query.extend({ web_app_url: z.url() });
const answered = query.extend({ result: z.enum(["approve", "decline", "queue"]) });
const decided = z.object({ chat_id: z.coerce.number().int(), user_id: z.string().regex(/^[1-9][0-9]{0,15}$/) });

/** Telegram's methods for requests to join the chat's private channel. */
export const joinMethods = {
  async sendChatJoinRequestWebApp({ bot, fields }) {
    const { chat_join_request_query_id: queryId, web_app_url: url } = parse(shown, fields);
    requireMiniapp(url, bot.options.miniappOrigin);
    await bot.joinNews.open(bot.channel.show(queryId), { miniappUrl: url, joinQueryId: queryId });
    return true;
  },
  async answerChatJoinRequestQuery({ bot, fields }) {
    const { chat_join_request_query_id: queryId, result } = parse(answered, fields);
    return tell(bot, bot.channel.answer(queryId, result));
  },
  async approveChatJoinRequest({ bot, fields }) {
    const { chat_id: chatId, user_id: userId } = parse(decided, fields);
    return tell(bot, bot.channel.decide(chatId, userId, "approve"));
  },
  async declineChatJoinRequest({ bot, fields }) {
    const { chat_id: chatId, user_id: userId } = parse(decided, fields);
    return tell(bot, bot.channel.decide(chatId, userId, "decline"));
  },
} satisfies Readonly<Record<string, (call: BotApiCall) => Promise<unknown>>>;

async function tell(bot: BotApiCall["bot"], answer: JoinAnswer): Promise<true> {
  await bot.joinNews.tell(answer);
  return true;
}

import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { Bot } from "../bots/rows.ts";
import { issueCode } from "./issue-code.ts";

// One with a view under way comes first, so that reopening goes on with it.
const select = statement<{ code: string }>(
  "codes.open-of-user",
  `select current_codes.code from current_codes
   left join ad_sessions using (bot_id, code)
   where current_codes.bot_id = $1 and current_codes.user_id = $2
     and not is_withheld and (expires_at > $3 or ad_sessions.deadline > $3)
     and not exists (
       select from events where events.bot_id = current_codes.bot_id and events.code = current_codes.code
     )
   order by ad_sessions.opened_at desc nulls last, issued_at desc limit 1`,
);

/** For a launch without a code: the code that the user can earn with now, or a fresh one. */
export async function openCodeOfUser(
  database: AdDatabase,
  { bot, userId, now }: { bot: Pick<Bot, "botId" | "codePrefix" | "codeLifetimeSeconds">; userId: string; now: Date },
): Promise<string> {
  const [open] = await database.run(select, [bot.botId, userId, now]);
  return open ? open.code : (await issueCode(database, { bot, userId, now })).code;
}

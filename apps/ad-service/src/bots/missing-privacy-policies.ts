import { type Database, statement } from "@intermission/postgres/open-database";

const MAX_NAMED = 3;

const firstWithout = statement<{ botId: string }>(
  "bots.without-privacy-policy",
  `select bot_id as "botId" from bots
   where privacy_url is null and not is_suspended order by bot_id limit ${MAX_NAMED + 1}`,
);

/** What the log says at the start of bots whose mini-app leads to no privacy policy; undefined if each does. */
export async function missingPrivacyPolicies(database: Database): Promise<string | undefined> {
  const ids = (await database.run(firstWithout, [])).map(({ botId }) => botId);
  if (ids.length === 0) return undefined;
  const named = `${ids.slice(0, MAX_NAMED).join(", ")}${ids.length > MAX_NAMED ? " and others" : ""}`;
  return `no privacy policy is set for ${named}: Telegram's terms require one of mini-apps; set it with: bots update <bot-id> --privacy-url <address>`;
}

import { isCode } from "@intermission/ad-core/code";
import type { FoundTimeline } from "@intermission/operator-api/users";
import { type Database, statement } from "@intermission/postgres/open-database";
import { inWeekOfView } from "../views/view-ids.ts";

/** Of each statement, so that a user of very many bots does not make a long answer. */
const MAX_FOUND = 50;

const find = (name: string, text: string) =>
  statement<FoundTimeline>(`timelines.${name}`, `${text} limit ${MAX_FOUND}`);

/** Each reads one index by its first column. */
const usersOf = find(
  "of-user",
  `select distinct 'user' as kind, bot_id as "botId", user_id as "userId", null as code from (
     select bot_id, user_id from current_codes where user_id = $1
     union all select bot_id, user_id from viewers where user_id = $1
     union all select bot_id, user_id from views where user_id = $1
     union all select bot_id, user_id from events where user_id = $1 and not is_erased
   ) as known order by bot_id`,
);
const codeOf = find(
  "of-code",
  `select 'code' as kind, bot_id as "botId", user_id as "userId", code from codes where code = $1`,
);
const viewOf = find(
  "of-view",
  `select 'view' as kind, bot_id as "botId", user_id as "userId", code from views
   where view_id = $1 and ${inWeekOfView("$1", "code")}`,
);
const clickOf = find(
  "of-click",
  `select 'click' as kind, bot_id as "botId", user_id as "userId", code from withheld_clicks where click_id = $1
   union all
   select 'click', bot_id, user_id, code from events
   where event_id = 'evt_' || substr($1, 5) and event = 'direct_link' and not is_erased
   union all
   select 'click', v.bot_id, v.user_id, v.code
   from cta_clicks c join views v on v.bot_id = c.bot_id and v.view_id = c.view_id
     and ${inWeekOfView("c.view_id", "v.code")}
   where c.click_id = $1`,
);
const eventOf = find(
  "of-event",
  `select 'event' as kind, bot_id as "botId", user_id as "userId", code from events where event_id = $1 and not is_erased`,
);

const statementOf = {
  user: usersOf,
  code: codeOf,
  view: viewOf,
  click: clickOf,
  event: eventOf,
} satisfies Record<FoundTimeline["kind"], unknown>;

/** What kind of id a text is by its form; undefined: none. */
function kindOfId(text: string): FoundTimeline["kind"] | undefined {
  if (/^[1-9]\d{0,19}$/.test(text)) return "user";
  if (text.startsWith("evt_")) return "event";
  if (text.startsWith("clk_")) return "click";
  if (isCode(text)) return "code";
  return /^[1-9]\d{0,19}-[\w-]{1,43}$/.test(text) ? "view" : undefined;
}

/** The users and codes that a text names: the id of a user, a code, or the id of a view, a click or an event. */
export async function findTimelines(database: Pick<Database, "run">, text: string): Promise<FoundTimeline[]> {
  const kind = kindOfId(text);
  return kind === undefined ? [] : database.run(statementOf[kind], [text]);
}

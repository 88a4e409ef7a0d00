import type { EventType } from "@intermission/ad-core/client-api";
import { isCode } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";

export interface FoundCode {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
  issuedAt: Date;
  expiresAt: Date;
  isExpired: boolean;
  /** The events that it has already earned. */
  earned: EventType[];
}

// The prefix identifies the bot, whose id is the first column of the codes' key.
const select = statement<Omit<FoundCode, "isExpired">>(
  "codes.find",
  `select bot_id as "botId", code, user_id as "userId", nullif(reference, '') as reference,
     issued_at as "issuedAt", expires_at as "expiresAt",
     array(select event from events where events.bot_id = codes.bot_id and events.code = codes.code) as earned
   from codes where bot_id = (select bot_id from bots where code_prefix = left($1, 4)) and code = $1`,
);

/** Finds a code by its text, without any check of the user. */
export async function findCode(
  database: AdDatabase | AdTransaction,
  { code, now }: { code: string; now: Date },
): Promise<FoundCode | undefined> {
  const [row] = isCode(code) ? await database.run(select, [code]) : [];
  return row && { ...row, isExpired: row.expiresAt <= now };
}

import { randomBytes } from "@intermission/server/random-bytes";

const SESSION_ID = /^([1-9][0-9]{0,19})-[0-9A-Za-z_-]{22}$/;

/** Starts with the bot's id, so that an address with only the session id finds the row by its primary key. */
export function newSessionId(botId: string): string {
  return `${botId}-${randomBytes(16).toString("base64url")}`;
}

export function botOfSession(sessionId: string): string | undefined {
  return SESSION_ID.exec(sessionId)?.[1];
}

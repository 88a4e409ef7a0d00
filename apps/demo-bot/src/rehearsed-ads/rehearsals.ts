import type { AdForPlayer, OpenSessionResponse, StatusResponse } from "@intermission/ad-core/player-api";
import { HttpError } from "@intermission/server/http-server";

/** A state of the mini-app that is hard to reach by using the demo: the ad service's answers that lead to it. */
export interface Rehearsal {
  open(botId: string, now: Date): OpenSessionResponse;
  status?(now: Date): StatusResponse;
}

const NO_AD_RETRY_SECONDS = 300;
const WATCHED_SECONDS_AGO = 90;

export const rehearsals = {
  /** The user has earned as often as a day allows. */
  cap: {
    open: (botId, now) => ({
      outcome: "limit-reached",
      ...shared(botId, now),
      reason: "daily-cap",
      available_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)).toISOString(),
    }),
  },
  "no-ad": {
    open: (botId, now) => ({
      outcome: "no-ad",
      ...shared(botId, now),
      retry_after_seconds: NO_AD_RETRY_SECONDS,
    }),
  },
  /** The code of the button is too old. */
  expired: {
    open() {
      throw new HttpError(410, "CODE_EXPIRED", "the code has expired");
    },
  },
  /** A watched ad whose webhook the bot's server does not accept. */
  delayed: {
    open: (botId, now) => ({
      outcome: "session",
      ...shared(botId, now),
      session_id: "rehearsal",
      token: "rehearsal",
      code: "ABCDEFGHJKMNPQRSTU",
      state: "rewarded",
      ad: neverShown,
      accepted_ms: neverShown.duration_ms,
      resume_at_ms: neverShown.duration_ms,
      first_sequence: 0,
      deadline: now.toISOString(),
    }),
    status: (now) => ({
      state: "rewarded",
      accepted_ms: neverShown.duration_ms,
      event: {
        event_id: "rehearsal",
        occurred_at: new Date(now.getTime() - WATCHED_SECONDS_AGO * 1000).toISOString(),
        delivery: "delayed",
      },
      server_time: now.toISOString(),
    }),
  },
} satisfies Record<string, Rehearsal>;

export type RehearsalName = keyof typeof rehearsals;

/** The mini-app shows the status of a watched ad and not the ad. */
const neverShown: AdForPlayer = {
  advertiser: "Intermission",
  media_url: "about:blank",
  media_type: "video/mp4",
  duration_ms: 10_000,
  width: 16,
  height: 9,
};

function shared(botId: string, now: Date) {
  return { bot: { bot_id: botId, name: "Coin Garden" }, server_time: now.toISOString() };
}

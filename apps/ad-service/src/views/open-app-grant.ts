import { secondsToWait } from "@intermission/server/rate-limiter";
import { languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { findBot } from "../bots/bots.ts";
import { APP_GRANT_SECONDS, issueAppGrant, readAppGrant } from "./app-grant.ts";
import { type Availability, describeAvailability } from "./describe-availability.ts";
import type { Openings, OpenViewInput } from "./open-view.ts";
import { type RefusedLaunch, verifyLaunch } from "./verify-launch.ts";

interface OpenAppGrantInput
  extends Pick<OpenViewInput, "botId" | "launch" | "format" | "userAgent" | "country" | "count" | "now"> {
  /** The `Origin` header, which browsers set. */
  origin: string | undefined;
}

export type OpenAppGrantOutcome =
  | { outcome: "opened"; token: string; endsAt: Date; availability: Availability }
  | { outcome: "other-origin" }
  | { outcome: "too-many"; waitSeconds: number }
  | RefusedLaunch;

/**
 * Exchanges launch data of at most an hour for an app grant of a registered origin, or asks again with one: its end stays.
 * Says whether the user could begin to earn now. Holds nothing.
 */
export async function openAppGrant(
  openings: Openings,
  { botId, launch, format, origin, userAgent, country, count, now }: OpenAppGrantInput,
): Promise<OpenAppGrantOutcome> {
  const known = await findBot(openings.bots, botId);
  if (!known) return { outcome: "refused", reason: "BOT_UNKNOWN" };
  if (origin === undefined || !known.appOrigins.includes(origin)) return { outcome: "other-origin" };
  const verified = await verifyLaunch(openings, { botId, now, ...launch });
  if (verified.outcome === "refused") return verified;
  const { bot, user, signedStartParam: startParam } = verified;
  if (verified.mustContinue) return { outcome: "refused", reason: "INIT_DATA_EXPIRED", bot };
  const waitSeconds = secondsToWait(count, openings.limiter, `${botId} ${user.id}`, now);
  if (waitSeconds > 0) return { outcome: "too-many", waitSeconds };
  const read = "appGrant" in launch && readAppGrant(openings.secretBox, { token: launch.appGrant, bot, now });
  const earlier = read && read.outcome === "valid" ? read : undefined;
  if (earlier && earlier.origin !== origin) return { outcome: "refused", reason: "INIT_DATA_INVALID" };
  const endsAt = earlier?.endsAt ?? new Date(now.getTime() + APP_GRANT_SECONDS * 1000);
  const token = issueAppGrant(openings.secretBox, botId, { origin, user, startParam, endsAt });
  const traits = {
    language: languageOf(user.languageCode),
    platform: platformOf(userAgent),
    isPremium: user.isPremium ?? false,
    country,
  };
  const question = { bot, userId: user.id, user: traits, formats: [format], now };
  return { outcome: "opened", token, endsAt, availability: await describeAvailability(openings, question) };
}

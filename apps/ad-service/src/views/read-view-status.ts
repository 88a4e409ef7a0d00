import type { EarnedDelivery } from "@intermission/ad-core/player-api";
import type { DeliveryState } from "@intermission/ad-core/wire-fields";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { drawsOf } from "../ad-selection/choose-ad.ts";
import { platformOf } from "../ad-selection/eligibility.ts";
import { type Bots, findBot } from "../bots/bots.ts";
import { type AdView, readView } from "./ad-view.ts";
import { type Availability, describeAvailability } from "./describe-availability.ts";
import { isSessionToken } from "./session-token.ts";

export type ViewStatusOutcome =
  | {
      outcome: "found";
      state: AdView["state"];
      code: string;
      acceptedMs: number;
      event: EarnedEvent | undefined;
      nextAd: Availability | undefined;
    }
  | { outcome: "unknown" }
  | { outcome: "superseded" };

interface EarnedEvent {
  eventId: string;
  occurredAt: Date;
  delivery: EarnedDelivery;
  deliveredAt: Date | null;
}

// Nothing is found any more when the webhook is no longer kept: a page that was open for weeks.
const readEvent = statement<{
  eventId: string;
  occurredAt: Date;
  state: DeliveryState;
  attempts: number;
  finishedAt: Date | null;
}>(
  "views.event",
  `select event_id as "eventId", occurred_at as "occurredAt", state, attempts, finished_at as "finishedAt"
   from events join deliveries using (bot_id, event_id)
   where bot_id = $1 and code = $2 and event in ('rewarded', 'interstitial')`,
);

export interface StatusQuestion {
  botId: string;
  viewId: string;
  token: string;
  isNextAdRequested: boolean;
  userAgent: string | undefined;
  /** Null: unknown; undefined: no source of countries is configured. */
  country: string | null | undefined;
  now: Date;
}

/** What the ad service knows of the reward: whether it was earned, and the state of its webhook. */
export async function readViewStatus(
  deps: { database: Database; bots: Bots; campaigns: CampaignSnapshot },
  { botId, viewId, token, isNextAdRequested, userAgent, country, now }: StatusQuestion,
): Promise<ViewStatusOutcome> {
  const { database } = deps;
  const view = await readView(database, { botId, viewId });
  if (!view) return { outcome: "unknown" };
  if (!isSessionToken(token, view.tokenHash)) return { outcome: view.openings > 1 ? "superseded" : "unknown" };
  const { state, acceptedMs, code, userId } = view;
  const [found] = state === "rewarded" ? await database.run(readEvent, [botId, code]) : [];
  const event = found && {
    eventId: found.eventId,
    occurredAt: found.occurredAt,
    delivery: deliveryOf(found),
    deliveredAt: found.state === "delivered" ? found.finishedAt : null,
  };
  // Another ad would earn something else than the place that this one was watched for.
  const isNextAdOffered = isNextAdRequested && !(await isOfJoin(database, botId, code));
  const bot = isNextAdOffered ? await findBot(deps.bots, botId) : undefined;
  // The user's language is not known here: a campaign for speakers of one language is not announced.
  const user = { platform: platformOf(userAgent), country };
  const random = drawsOf(nextAdDraws(code));
  const query = bot && { bot, userId, user, formats: ["rewarded" as const], now, random };
  const nextAd = query && (await describeAvailability(deps, query));
  return { outcome: "found", state, code, acceptedMs, event, nextAd };
}

const readJoin = statement<{ joinTitle: string | null }>(
  "views.join",
  `select join_title as "joinTitle" from codes where bot_id = $1 and code = $2`,
);

async function isOfJoin(database: Database, botId: string, code: string): Promise<boolean> {
  const [found] = await database.run(readJoin, [botId, code]);
  return (found?.joinTitle ?? null) !== null;
}

/** An opening of another ad after this code draws the same numbers, and so most likely chooses the same ad. */
export function nextAdDraws(code: string): string {
  return `after ${code}`;
}

function deliveryOf({ state, attempts }: { state: DeliveryState; attempts: number }): EarnedEvent["delivery"] {
  if (state === "delivered") return "delivered";
  if (state === "failed" || state === "unknown") return "failed";
  // The second attempt follows the first within seconds; from the third on, the viewer should not wait.
  return state === "held" || attempts >= 2 ? "delayed" : "on-its-way";
}

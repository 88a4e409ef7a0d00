import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { NoAdReason } from "../ad-selection/choose-ad.ts";
import { type AdWish, selectAd } from "../ad-selection/select-ad.ts";
import type { FoundCode } from "../codes/find-code.ts";
import type { Device } from "../creatives/describe-device.ts";
import { storeVastAd } from "../vast/store-vast-ad.ts";
import type { VastAd } from "../vast/vast-ad.ts";
import { findViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer, type ViewerLimit } from "../viewers/limit-of-viewer.ts";
import { nextSequence } from "./accept-progress.ts";
import { closeSession } from "./close-session.ts";
import { type Ad, findAd, findChosenAd } from "./find-ad.ts";
import { findUnfinishedViews } from "./find-unfinished-views.ts";
import { isBroken, isFaultLasting } from "./record-fault.ts";
import { recordFilledRequest } from "./record-request.ts";
import { type AdSession, lockSessionOfCode } from "./rows.ts";
import { hashSessionToken } from "./session-token.ts";

export interface EnterSessionInput {
  code: FoundCode;
  limits: { cooldownSeconds: number; dailyCap: number };
  campaigns: CampaignSnapshot;
  wish: AdWish;
  random: () => number;
  /** What the tag of an earlier try brought: it is shown, and nothing is chosen again. */
  fromTag?: { campaignId: string; creativeId: string; vastAd: VastAd } | undefined;
  /** With launch data that is too old to begin a session. */
  mustContinue: boolean;
  isTest: boolean;
  /** What is to play it: the video's file is chosen for it at each opening. */
  device: Device;
  sessionId: string;
  token: string;
  /** Of the event, should the opening be the close of a watched session. */
  eventId: string;
  now: Date;
}

export type EnterSessionOutcome =
  | { outcome: "entered"; session: AdSession; ad: Ad }
  | { outcome: "no-ad"; reason: NoAdReason }
  /** A VAST tag is to be asked first: not in a transaction. */
  | { outcome: "tag-wanted"; campaignId: string; creativeId: string; url: string }
  | Extract<ViewerLimit, { outcome: "limited" }>
  | { outcome: "refused"; reason: OpenSessionRefusal };

/** A session begun in time may finish after its code expired. */
const GRACE_MS = 10 * 60_000;

const lockViewer = statement(
  "ad-sessions.lock-viewer",
  "select pg_advisory_xact_lock(hashtextextended('viewer:' || $1::text || ':' || $2::text, 0))",
);
/**
 * An offer passed the limits when it was made, and may be stale: a user holds at most one that is not started. Opening
 * its code again makes a new one, if the limits still allow it. Locked first, so that none starts while they are judged.
 */
const offersOf = `ad_sessions where bot_id = $1 and user_id = $2 and state = 'opened'
  and opened_at > $3::timestamptz - interval '25 hours'`;
const lockOffers = statement("ad-sessions.lock-offers", `select session_id from ${offersOf} for update`);
const withdrawOffers = statement("ad-sessions.withdraw-offers", `delete from ${offersOf}`);
const withdraw = statement("ad-sessions.withdraw", "delete from ad_sessions where bot_id = $1 and session_id = $2");

/** Goes on with the one session of a code, or begins it. The token of an earlier opening is void from then on. */
export async function enterSession(database: AdDatabase, input: EnterSessionInput): Promise<EnterSessionOutcome> {
  return database.transaction(async (tx) => {
    // One opening at a time for each viewer, on all nodes: two codes opened at once cannot both pass the limits.
    await tx.run(lockViewer, [input.code.botId, input.code.userId]);
    const session = await lockSessionOfCode(tx, input.code);
    if (!session && input.mustContinue) return { outcome: "refused", reason: "INIT_DATA_EXPIRED" };
    // Nothing was accepted of a broken ad: its code begins once more, without the videos that could not be played.
    const isNew = session === undefined || (isBroken(session, input.now) && input.now <= session.deadline);
    const begun = isNew ? await beginSession(tx, input, session) : undefined;
    // What did not come may come yet: where there is no other ad, the same one is better than none.
    const isAgain = begun?.outcome === "no-ad" && session !== undefined && !isFaultLasting(session);
    const refusal = isNew && !isAgain ? begun : session && (await continueSession(tx, session, input));
    if (refusal) return refusal;
    const entered = await lockSessionOfCode(tx, input.code);
    if (!entered) throw new Error("a session vanished while it was opened");
    return { outcome: "entered", session: entered, ad: await findAd(tx, entered, input.device) };
  });
}

type Refusal = Exclude<EnterSessionOutcome, { outcome: "entered" }>;

async function continueSession(
  tx: AdTransaction,
  session: AdSession,
  input: EnterSessionInput,
): Promise<Refusal | undefined> {
  const { now, eventId } = input;
  const isUnfinished = session.state === "opened" || session.state === "playing";
  if (isUnfinished && now > session.deadline) return { outcome: "refused", reason: "CODE_EXPIRED" };
  // An offer that was not started holds nothing: the viewer may have earned elsewhere since.
  const limit = session.state === "opened" ? await limitNow(tx, input) : undefined;
  if (limit) return limit;
  if (session.state === "watched") await closeSession(tx, session, { closeReason: "reopened", eventId, now });
  const pending = session.pendingReports ?? [];
  await tx.query
    .updateTable("ad_sessions")
    .set({
      token_hash: hashSessionToken(input.token),
      openings: session.openings + 1,
      first_sequence: Math.max(nextSequence(session.progress), ...pending.map(({ sequence }) => sequence + 1)),
      // The viewer is back: a close that waited for its reports is withdrawn, unless they are here and wait for the clock.
      ...(isUnfinished && pending.length === 0 && { close_requested_at: null, close_reason: null }),
    })
    .where("bot_id", "=", session.botId)
    .where("session_id", "=", session.sessionId)
    .execute();
  return undefined;
}

async function beginSession(
  tx: AdTransaction,
  input: EnterSessionInput,
  broken: AdSession | undefined,
): Promise<Refusal | undefined> {
  const { code, now } = input;
  if (code.earned.includes("rewarded")) return { outcome: "refused", reason: "CODE_USED" };
  if (code.isExpired && !broken) return { outcome: "refused", reason: "CODE_EXPIRED" };
  const failedCreatives = broken ? [...new Set([...broken.failedCreatives, broken.creativeId])] : [];
  const offers = [code.botId, code.userId, now];
  await tx.run(lockOffers, offers);
  const limit = await limitNow(tx, input);
  if (limit) return limit;
  const ad = input.fromTag ?? (await choose(tx, input, failedCreatives));
  if ("outcome" in ad) return ad;
  const found = await findChosenAd(tx, ad);
  const shown = found.kind === "video" ? found.ad : (ad.vastAd ?? found.url);
  if (typeof shown === "string") return { outcome: "tag-wanted", ...ad, url: shown };
  if (broken) await tx.run(withdraw, [broken.botId, broken.sessionId]);
  await tx.run(withdrawOffers, offers);
  await insertSession(tx, input, { ...ad, durationMs: shown.durationMs, failedCreatives });
  if (!input.isTest) await recordFilledRequest(tx, { ...code, ...ad, now });
  return undefined;
}

/** What keeps the viewer from beginning a view of this code now. */
async function limitNow(tx: AdTransaction, { code, limits, now }: EnterSessionInput): Promise<Refusal | undefined> {
  // The views under way are read before the viewer: one that earns in between counts twice for a moment, never not at all.
  const unfinished = await findUnfinishedViews(tx, { ...code, now });
  const limit = limitOfViewer(await findViewer(tx, code), limits, now, unfinished);
  return limit.outcome === "limited" ? limit : undefined;
}

interface ChosenAd {
  campaignId: string;
  creativeId: string;
  vastAd?: VastAd;
}

async function choose(
  tx: AdTransaction,
  { campaigns, wish, now, random }: EnterSessionInput,
  failedCreatives: readonly string[],
): Promise<ChosenAd | { outcome: "no-ad"; reason: NoAdReason }> {
  const without = new Set([...(wish.without ?? []), ...failedCreatives]);
  const chosen = await selectAd({ database: tx, campaigns, isStored: true }, { ...wish, without }, { now, random });
  if (chosen.outcome === "no-ad") return chosen;
  if (!chosen.creative) return { outcome: "no-ad", reason: "none-fits" };
  return { campaignId: chosen.state.campaign.campaignId, creativeId: chosen.creative.creativeId };
}

async function insertSession(
  tx: AdTransaction,
  input: EnterSessionInput,
  chosen: ChosenAd & { durationMs: number; failedCreatives: string[] },
): Promise<void> {
  await tx.query
    .insertInto("ad_sessions")
    .values({
      bot_id: input.code.botId,
      session_id: input.sessionId,
      code: input.code.code,
      user_id: input.code.userId,
      campaign_id: chosen.campaignId,
      creative_id: chosen.creativeId,
      state: "opened",
      token_hash: hashSessionToken(input.token),
      is_vast: chosen.vastAd !== undefined,
      duration_ms: chosen.durationMs,
      opened_at: input.now,
      is_test: input.isTest,
      failed_creatives: chosen.failedCreatives,
      deadline: new Date(input.code.expiresAt.getTime() + GRACE_MS),
    })
    .execute();
  if (chosen.vastAd) await storeVastAd(tx, { ...input.code, sessionId: input.sessionId }, chosen.vastAd);
}

import { joinChat, joinReference } from "@intermission/ad-core/join-reference";
import type { Context, MiddlewareFn } from "grammy";
import { AdsError } from "./ads-error.ts";
import { requireMilliseconds, requireOptions } from "./client-settings.ts";
import type { Ads } from "./create-ads.ts";
import type { JoinTexts } from "./join-languages.ts";
import type { JoinStore, PendingJoin } from "./join-store.ts";
import { joinTexts } from "./join-texts.ts";
import type { EventStore } from "./memory-store.ts";
import { decideJoin, type JoinDecision, refusalOf, type TelegramCalls, telegramCalls } from "./telegram-joins.ts";
import type { AdEvent } from "./verify-webhook.ts";

export interface JoinRequestsOptions<C extends Context> {
  /** `bot.api`. */
  readonly api: { readonly raw: object };
  /** The store of the webhook, which remembers the requests, too. */
  readonly store: EventStore;
  /** There is no ad for this user now, or the ad service does not answer. `queue`, the default everywhere: the admins decide. */
  readonly withoutAd?: JoinDecision | undefined;
  /** Telegram did not open the mini-app, or did not deliver the button. */
  readonly unopened?: JoinDecision | undefined;
  /** The ad was not watched in time, or its view was refused. */
  readonly unwatched?: JoinDecision | undefined;
  /** The time for the ad; 15 minutes by default. With `unwatched: "decline"` it does not end before that of the code. */
  readonly waitMs?: number | undefined;
  /** Of the message to users whose Telegram opens no mini-app by itself; built in, in the user's language. */
  readonly texts?: ((ctx: C) => JoinTexts | Promise<JoinTexts>) | undefined;
  /** Called for what a request was decided without: no answer of the ad service, a refusal by Telegram. Logs by default. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface JoinRequests<C extends Context> {
  /** Answers each `chat_join_request` with an ad: `bot.use(joins)`. */
  middleware(): MiddlewareFn<C>;
  /**
   * Lets the user of an event into the channel. Resolves to false, and does nothing, if the event earned something else. Call it
   * in the webhook's handler, which is repeated if it rejects: Telegram was not reached, or the bot has lost the right to invite.
   */
  approve(event: AdEvent): Promise<boolean>;
  /** Decides the requests whose time is over. Call it at start and once a minute. */
  decideLate(): Promise<void>;
}

interface Deps<C extends Context> {
  readonly ads: Ads;
  readonly joins: JoinStore;
  readonly telegram: TelegramCalls;
  readonly decisions: Readonly<Record<"withoutAd" | "unopened" | "unwatched", JoinDecision>>;
  readonly waitMs: number;
  readonly texts: (ctx: C) => JoinTexts | Promise<JoinTexts>;
  readonly onError: (error: unknown) => void;
}

/** Telegram waits 10 s for the answer to a query. */
const AD_WITHIN_MS = 6000;
/** A view that began before its code expired may end 10 minutes later. */
const CODE_GRACE_MS = 11 * 60_000;

/**
 * Lets users into a private channel or group for one ad: a request to join opens the mini-app, and the reward approves it. The
 * bot is an administrator who may invite; assigned to process join requests, it gets queries (Bot API 10.1), which Telegram
 * answers with the mini-app at once. Where it gets none, it sends the user a button.
 *
 * A request is remembered before the ad is offered and until it is decided. Whenever the process dies, a reward is approved once:
 * Telegram refuses a second approval, which then counts as done.
 */
export function joinRequests<C extends Context = Context>(ads: Ads, options: JoinRequestsOptions<C>): JoinRequests<C> {
  const deps = depsOf(ads, options);
  const { joins, telegram, decisions, onError } = deps;
  return {
    middleware: () => async (ctx, next) => {
      if (ctx.chatJoinRequest === undefined) return next();
      await answerRequest(deps, ctx);
    },
    async approve({ reference, userId }) {
      const chatId = joinChat(reference ?? "");
      if (chatId === undefined) return false;
      const join = await joins.get(chatId, userId);
      await decideJoin(telegram, join ?? { chatId, userId, queryId: undefined }, "approve");
      if (join) await joins.remove(join);
      return true;
    },
    async decideLate() {
      for (const join of await joins.late(Date.now())) {
        try {
          await decideJoin(telegram, join, decisions.unwatched);
        } catch (error) {
          onError(error);
          // Telegram was not reached: the next call tries again.
          if (refusalOf(error) === undefined) continue;
        }
        await joins.remove(join);
      }
    },
  };
}

function depsOf<C extends Context>(ads: Ads, options: JoinRequestsOptions<C>): Deps<C> {
  if (typeof ads?.createCode !== "function")
    throw new TypeError(
      "joinRequests(ads, { api, store }) needs the client that createAds({ url, token, botId }) returns",
    );
  requireOptions(options, "joinRequests(ads, { api, store })");
  const { api, store, withoutAd = "queue", unopened = "queue", unwatched = "queue", waitMs = 15 * 60_000 } = options;
  requireMilliseconds({ waitMs });
  if (typeof api?.raw !== "object") throw new TypeError("joinRequests needs the bot's api: { api: bot.api, store }");
  const joins = store?.joins;
  if (joins === undefined)
    throw new TypeError(
      "joinRequests needs a store that remembers requests to join: fileStore, sqliteStore, postgresStore",
    );
  return {
    ads,
    joins,
    telegram: telegramCalls(api.raw),
    decisions: { withoutAd, unopened, unwatched },
    waitMs,
    texts: options.texts ?? (({ from }) => joinTexts(from?.language_code)),
    onError: options.onError ?? ((error) => console.error("a request to join:", error)),
  };
}

/** What this package reads of a request. Older types of grammY have no `query_id`. */
interface JoinUpdate {
  readonly chat: { readonly id: number; readonly title: string };
  readonly from: { readonly id: number };
  readonly user_chat_id: number;
  readonly query_id?: string | undefined;
}

async function answerRequest<C extends Context>(deps: Deps<C>, ctx: C): Promise<void> {
  const { joins, telegram, decisions, waitMs, onError } = deps;
  const request = ctx.update.chat_join_request as unknown as JoinUpdate;
  const requested = { chatId: String(request.chat.id), userId: String(request.from.id), queryId: request.query_id };
  const ad = await findAd(deps, requested, request.chat.title);
  if (ad === undefined) return decideJoin(telegram, requested, decisions.withoutAd);
  const codeEndsAt = decisions.unwatched === "decline" ? ad.expiresAt + CODE_GRACE_MS : 0;
  const join = { ...requested, decideAt: Math.max(Date.now() + waitMs, codeEndsAt) };
  const earlier = await joins.get(join.chatId, join.userId);
  // Before the ad is offered: whatever happens next, the request is decided.
  await joins.put(join);
  try {
    await offerAd(deps, ctx, request, ad.url);
  } catch (error) {
    onError(error);
    // An update that arrives again, after a restart of the bot: the mini-app is open.
    const isRepeated = join.queryId !== undefined && earlier?.queryId === join.queryId;
    if (isRepeated || refusalOf(error) === undefined) return;
    await decideJoin(telegram, join, decisions.unopened);
    await joins.remove(join);
  }
}

async function findAd<C extends Context>(
  { ads, onError }: Deps<C>,
  { chatId, userId }: Pick<PendingJoin, "chatId" | "userId">,
  title: string,
): Promise<{ url: string; expiresAt: number } | undefined> {
  const signal = AbortSignal.timeout(AD_WITHIN_MS);
  try {
    const { isAvailable } = await ads.availability(userId, { signal });
    if (!isAvailable) return undefined;
    const code = { userId, reference: joinReference(chatId), join: { title } };
    const { miniappUrl, expiresAt } = await ads.createCode(code, { signal });
    if (miniappUrl !== undefined) return { url: miniappUrl, expiresAt: Date.parse(expiresAt) };
    throw new Error("the ad service returned no miniapp_url with the code");
  } catch (error) {
    if (!(error instanceof AdsError || signal.aborted)) throw error;
    onError(error);
    return undefined;
  }
}

async function offerAd<C extends Context>(deps: Deps<C>, ctx: C, request: JoinUpdate, url: string): Promise<void> {
  const { telegram } = deps;
  if (request.query_id !== undefined)
    return telegram("sendChatJoinRequestWebApp", { chat_join_request_query_id: request.query_id, web_app_url: url });
  const { offer, button } = await deps.texts(ctx);
  return telegram("sendMessage", {
    chat_id: request.user_chat_id,
    text: offer.replace("{title}", () => request.chat.title),
    reply_markup: { inline_keyboard: [[{ text: button, web_app: { url } }]] },
  });
}

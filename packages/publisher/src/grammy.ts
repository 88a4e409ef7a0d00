import { isSharedAccount } from "@intermission/ad-core/shared-accounts";
import type { Context, MiddlewareFn } from "grammy";
import type { InlineKeyboardMarkup } from "grammy/types";
import { AdsError } from "./ads-error.ts";
import { type BonusTexts, bonusTexts } from "./bonus-texts.ts";
import { type Card, messageOf } from "./cards.ts";
import type { Ads } from "./create-ads.ts";
import type { Task } from "./tasks.ts";

export { type BonusTexts, bonusTexts } from "./bonus-texts.ts";
export type { JoinTexts } from "./join-languages.ts";
export { type JoinRequests, type JoinRequestsOptions, joinRequests } from "./join-requests.ts";
export { joinTexts } from "./join-texts.ts";
export type { JoinDecision } from "./telegram-joins.ts";

/** What the middleware adds to a context: `type MyContext = Context & AdsFlavor`. */
export interface AdsFlavor {
  readonly ads: {
    /**
     * Returns an inline keyboard with one button for the user of this update. In a private chat the button opens the mini-app. In
     * other chats, where Telegram allows no mini-app buttons, it opens the user's direct link. The webhook echoes
     * `reference`.
     *
     * Rejects with an {@link AdsError} `NOT_A_PERSON` if Telegram does not say which person sent the update: an anonymous
     * administrator, somebody who writes as a channel, a bot. Throws for an update without a user.
     */
    keyboard(options?: KeyboardOptions): Promise<InlineKeyboardMarkup>;
    /**
     * Returns up to five channels for the user of this update to join, and an inline keyboard with a button for each, whose text is
     * the channel's title unless `text` says otherwise. No tasks: an empty keyboard.
     *
     * Rejects as `keyboard` does.
     */
    tasks(
      options?: TasksOptions,
    ): Promise<{ readonly tasks: readonly Task[]; readonly keyboard: InlineKeyboardMarkup }>;
    /**
     * Sends an ad of a network to the chat of this update, marked as an ad, and reports it. Returns it; undefined: there is none now.
     * Rejects as `keyboard` does, and if Telegram refuses the message, which is then not paid.
     */
    card(): Promise<Card | undefined>;
  };
}

interface TasksOptions {
  readonly text?: ((task: Task) => string) | undefined;
  readonly reference?: string | undefined;
}

interface KeyboardOptions {
  readonly text?: string | undefined;
  readonly reference?: string | undefined;
}

/** Adds `ctx.ads` to every update. */
export function adsMiddleware<C extends Context>(ads: Ads): MiddlewareFn<C & AdsFlavor> {
  requireAds(ads, "adsMiddleware(ads)");
  return (ctx, next) => {
    Object.assign(ctx, {
      ads: {
        keyboard: (options) => keyboardFor(ads, ctx, options),
        tasks: (options) => tasksFor(ads, ctx, options),
        card: () => sendCard(ads, ctx),
      } satisfies AdsFlavor["ads"],
    });
    return next();
  };
}

async function keyboardFor(
  ads: Ads,
  ctx: Context,
  { text = "🎁 Watch and earn", reference }: KeyboardOptions = {},
): Promise<InlineKeyboardMarkup> {
  const { miniappUrl, directLink } = await ads.createCode({ userId: personOf(ctx), reference });
  // Telegram shows no mini-app's buttons under messages of a business account.
  const isPrivate = ctx.chat?.type === "private" && ctx.businessConnectionId === undefined;
  if (isPrivate && miniappUrl !== undefined) return { inline_keyboard: [[{ text, web_app: { url: miniappUrl } }]] };
  if (directLink === undefined) throw new Error("the ad service returned no direct_link and miniapp_url with the code");
  return { inline_keyboard: [[{ text, url: directLink }]] };
}

async function tasksFor(ads: Ads, ctx: Context, { text = ({ title }) => title, reference }: TasksOptions = {}) {
  const language = ctx.from?.language_code;
  const tasks = await ads.tasks({ userId: personOf(ctx), reference, language });
  const rows = tasks.map((task) => [{ text: text(task), url: task.url }]);
  return { tasks, keyboard: { inline_keyboard: rows } };
}

async function sendCard(ads: Ads, ctx: Context): Promise<Card | undefined> {
  const card = await ads.card({ userId: personOf(ctx), language: ctx.from?.language_code });
  if (card === undefined) return undefined;
  const { cardId, imageUrl, button, url } = card;
  const text = messageOf(card);
  const reply_markup = { inline_keyboard: [[{ text: button, url }]] };
  const sendText = () => ctx.reply(text, { reply_markup, link_preview_options: { is_disabled: true } });
  if (imageUrl === undefined) await sendText();
  // Telegram reads the picture itself; where it cannot, the card has text alone.
  else
    await ctx.replyWithPhoto(imageUrl, { caption: text, reply_markup }).catch((error: { error_code?: unknown }) => {
      if (error.error_code !== 400) throw error;
      return sendText();
    });
  await ads.cardShown(cardId);
  return card;
}

function requireAds(ads: Ads, call: string): void {
  if (typeof ads?.createCode !== "function")
    throw new TypeError(`${call} needs the client that createAds({ url, token, botId }) returns`);
}

/** Who sent an update. Only a person can earn: behind a `chat` are many people, and Telegram does not say which of them. */
export type Sender =
  | { readonly kind: "person"; readonly userId: string }
  | { readonly kind: "chat" }
  | { readonly kind: "bot" }
  | { readonly kind: "nobody" };

/** The parts of a message, or of another update, that tell who sent it. */
export interface SenderFacts {
  readonly from?: { readonly id: number; readonly is_bot: boolean } | undefined;
  /** The chat in whose name the message was sent: a group for its anonymous administrators, a channel for its posts. */
  readonly sender_chat?: object | undefined;
  /** The bot that sent the message for a business account. */
  readonly sender_business_bot?: object | undefined;
}

/** Tells whether a person sent it: for handlers of your own that create codes. */
export function senderOf({ from, sender_chat, sender_business_bot }: SenderFacts): Sender {
  if (from === undefined) return { kind: "nobody" };
  const userId = String(from.id);
  if (sender_chat !== undefined || isSharedAccount(userId)) return { kind: "chat" };
  if (from.is_bot || sender_business_bot !== undefined) return { kind: "bot" };
  return { kind: "person", userId };
}

/** Who presses a button is known, also where the message with the button was sent in the name of a chat. */
function senderOfUpdate({ from, msg, callbackQuery }: Context): Sender {
  return senderOf(callbackQuery || !msg ? { from } : { ...msg, from });
}

function personOf(ctx: Context): string {
  const sender = senderOfUpdate(ctx);
  if (sender.kind === "person") return sender.userId;
  if (sender.kind === "nobody")
    throw new Error("ctx.ads.keyboard() needs an update with a user: ctx.from is undefined");
  const what = sender.kind === "bot" ? "a bot" : "many people: it writes in the name of a group or channel";
  throw new AdsError(`the sender is ${what}; ask for the command in private`, { code: "NOT_A_PERSON" });
}

/** Texts of one's own, or a function that returns them for the user of an update; texts that are left out are built in. */
export type BonusTextsOption<C extends Context> = SomeTexts | ((ctx: C) => SomeTexts | Promise<SomeTexts>);

type SomeTexts = { readonly [Name in keyof BonusTexts]?: BonusTexts[Name] | undefined };

interface BonusOptions<C extends Context> {
  readonly command?: string | undefined;
  readonly texts?: BonusTextsOption<C> | undefined;
}

/**
 * Answers a command, `/bonus` by default, with an ad or the time of the next one, or, where Telegram does not say who sent it,
 * with what to do. It does not need {@link adsMiddleware}, which is for handlers of your own.
 *
 * Without `texts`, and where a function returns only some of them, the texts are the built-in ones in the user's language. The
 * rest of an object is English, so that nobody gets two languages; `await bonusTexts("de")` are the built-in ones of one language.
 */
export function bonusCommand<C extends Context>(
  ads: Ads,
  { command = "bonus", texts = () => ({}) }: BonusOptions<C> = {},
): MiddlewareFn<C> {
  requireAds(ads, "bonusCommand(ads)");
  return async (ctx, next) => {
    if (!ctx.hasCommand(command)) return next();
    const sender = senderOfUpdate(ctx);
    if (sender.kind === "nobody" || sender.kind === "bot") return next();
    const { offer, button, later, failed, anonymous } = await textsFor(ctx, texts);
    if (sender.kind === "chat") {
      await ctx.reply(anonymous);
      return;
    }
    try {
      const { isAvailable, availableAt } = await ads.availability(sender.userId);
      if (isAvailable) await ctx.reply(offer, { reply_markup: await keyboardFor(ads, ctx, { text: button }) });
      else await ctx.reply(later(availableAt === undefined ? undefined : new Date(availableAt)));
    } catch (error) {
      if (!(error instanceof AdsError)) throw error;
      console.error(`/${command} failed: ${error.code}: ${error.message}`);
      await ctx.reply(failed);
    }
  };
}

async function textsFor<C extends Context>(ctx: C, texts: BonusTextsOption<C>): Promise<BonusTexts> {
  const isByUser = typeof texts === "function";
  const own = isByUser ? await texts(ctx) : texts;
  const ownTexts = Object.entries(own).filter(([, text]) => text !== undefined);
  return { ...(await bonusTexts(isByUser ? ctx.from?.language_code : undefined)), ...Object.fromEntries(ownTexts) };
}

import type { Context, MiddlewareFn } from "grammy";
import type { InlineKeyboardMarkup } from "grammy/types";
import { AdsError } from "./ads-error.ts";
import type { Ads } from "./create-ads.ts";

/** What the middleware adds to a context: `type MyContext = Context & AdsFlavor`. */
export interface AdsFlavor {
  readonly ads: {
    /**
     * Returns an inline keyboard with one button for the user of this update. In a private chat the button opens the mini-app. In
     * other chats, where Telegram allows no mini-app buttons, it opens the user's direct link. The webhook echoes
     * `reference`.
     */
    keyboard(options?: { readonly text?: string; readonly reference?: string }): Promise<InlineKeyboardMarkup>;
  };
}

/** Adds `ctx.ads` to every update. */
export function adsMiddleware<C extends Context>(ads: Ads): MiddlewareFn<C & AdsFlavor> {
  return (ctx, next) => {
    Object.assign(ctx, {
      ads: {
        async keyboard({ text = "🎁 Watch and earn", reference } = {}) {
          if (ctx.from === undefined)
            throw new Error("ctx.ads.keyboard() needs an update with a user: ctx.from is undefined");
          const userId = String(ctx.from.id);
          const { miniappUrl, directLink } = await ads.createCode({ userId, reference });
          const isPrivate = ctx.chat?.type === "private";
          if (isPrivate && miniappUrl !== undefined)
            return { inline_keyboard: [[{ text, web_app: { url: miniappUrl } }]] };
          if (directLink === undefined)
            throw new Error("the ad service returned no direct_link and miniapp_url with the code");
          return { inline_keyboard: [[{ text, url: directLink }]] };
        },
      } satisfies AdsFlavor["ads"],
    });
    return next();
  };
}

export interface BonusTexts {
  readonly offer: string;
  readonly button: string;
  /** `availableAt` is undefined if unknown. */
  readonly later: (availableAt: Date | undefined) => string;
  readonly failed: string;
}

const english: BonusTexts = {
  offer: "Watch a short ad to the end and close it to get your bonus.",
  button: "🎁 Watch and earn",
  later: (at) =>
    at ? `The next ad will be available at ${at.toISOString().slice(11, 16)} UTC.` : "No ad is available now.",
  failed: "Something went wrong on our side. Please try again in a minute.",
};

/** Answers a command, `/bonus` by default, with an ad or the time of the next one. Use it after {@link adsMiddleware}. */
export function bonusCommand<C extends Context & AdsFlavor>(
  ads: Ads,
  { command = "bonus", texts = {} }: { readonly command?: string; readonly texts?: Partial<BonusTexts> } = {},
): MiddlewareFn<C> {
  const { offer, button, later, failed } = { ...english, ...texts };
  return async (ctx, next) => {
    if (!ctx.hasCommand(command) || ctx.from === undefined) return next();
    try {
      const { isAvailable, availableAt } = await ads.availability(String(ctx.from.id));
      if (isAvailable) await ctx.reply(offer, { reply_markup: await ctx.ads.keyboard({ text: button }) });
      else await ctx.reply(later(availableAt === undefined ? undefined : new Date(availableAt)));
    } catch (error) {
      if (!(error instanceof AdsError)) throw error;
      console.error(`/${command} failed: ${error.code}: ${error.message}`);
      await ctx.reply(failed);
    }
  };
}

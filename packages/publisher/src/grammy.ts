import type { Context, MiddlewareFn } from "grammy";
import type { InlineKeyboardMarkup } from "grammy/types";
import type { Ads } from "./create-ads.ts";
import { AdsError } from "./create-ads.ts";

/** What the middleware adds to a context: `type MyContext = Context & AdsFlavor`. */
export interface AdsFlavor {
  readonly ads: {
    /**
     * A keyboard with one button for the user of this update. In a private chat it opens the mini-app; elsewhere, where
     * Telegram allows no mini-app buttons, it is the user's direct link. `reference` comes back in the webhook.
     */
    keyboard(options?: { readonly text?: string; readonly reference?: string }): Promise<InlineKeyboardMarkup>;
  };
}

/** Puts `ctx.ads` into every update. */
export function adsMiddleware<C extends Context>(ads: Ads): MiddlewareFn<C & AdsFlavor> {
  return (ctx, next) => {
    Object.assign(ctx, {
      ads: {
        async keyboard({ text = "🎁 Watch and earn", reference } = {}) {
          if (ctx.from === undefined) throw new Error("this update has no user, for whom an ad could be");
          const userId = String(ctx.from.id);
          const { miniappUrl, directLink } = await ads.createCode({
            userId,
            ...(reference !== undefined && { reference }),
          });
          const isPrivate = ctx.chat?.type === "private";
          if (isPrivate && miniappUrl !== undefined)
            return { inline_keyboard: [[{ text, web_app: { url: miniappUrl } }]] };
          if (directLink === undefined) throw new Error("the ad service sends no addresses with its codes");
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
  /** `availableAt` is undefined where it is unknown. */
  readonly later: (availableAt: Date | undefined) => string;
  readonly failed: string;
}

const english: BonusTexts = {
  offer: "Watch a short ad to its end, and close it, to get your bonus.",
  button: "🎁 Watch and earn",
  later: (at) =>
    at ? `The next ad is there at ${at.toISOString().slice(11, 16)} UTC.` : "There is no ad for you now.",
  failed: "Something went wrong on our side. Please try again in a minute.",
};

/** Answers a command, `/bonus` by default, with an ad, or with when the next one is there. Use it after {@link adsMiddleware}. */
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

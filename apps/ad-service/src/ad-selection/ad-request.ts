import type { CampaignFormat } from "../campaigns/schema.ts";

export type Platform = "android" | "ios" | "desktop" | "web";

/** A request for an ad for one user. A user property that is unknown matches no target on that property. */
export interface AdRequest {
  format: CampaignFormat;
  bot: {
    botId: string;
    category: string | null;
    timeZone: string;
    blockedCategories: readonly string[];
    blockedAdvertisers: readonly string[];
  };
  user: {
    /** Two or three letters, lower-case. */
    language?: string | undefined;
    platform?: Platform | undefined;
    isPremium?: boolean | undefined;
  };
  /** When the user was shown or followed ads of campaigns that have a user cap. */
  seen: ReadonlyMap<string, readonly Date[]>;
  /** Creatives to leave out: their VAST tag has just returned no ad, or this viewer's player could not play them. */
  without?: ReadonlySet<string>;
}

/** The platform that the user agent names; undefined if it names none. */
export function platformOf(userAgent: string | undefined): Platform | undefined {
  if (userAgent === undefined) return undefined;
  if (/Android/i.test(userAgent)) return "android";
  if (/iPhone|iPad|iPod/i.test(userAgent)) return "ios";
  return /Windows NT|Macintosh|X11|Linux/i.test(userAgent) ? "desktop" : undefined;
}

/** The language of a tag: `pt` for `pt-BR`. */
export function languageOf(tag: string | undefined): string | undefined {
  const [language = ""] = (tag ?? "")
    .trim()
    .toLowerCase()
    .split(/[-_,;]/);
  return /^[a-z]{2,3}$/.test(language) ? language : undefined;
}

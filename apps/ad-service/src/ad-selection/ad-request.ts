import type { CampaignFormat } from "../campaigns/schema.ts";

export type Platform = "android" | "ios" | "desktop" | "web";

/** Somebody who could be shown an ad. What is not known of a user fits no target that asks for it. */
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
  /** When the user was shown or followed ads of campaigns that have a cap per user. */
  seen: ReadonlyMap<string, readonly Date[]>;
  /** Creatives whose VAST tag has just brought nothing, or that this viewer's player could not play. */
  without?: ReadonlySet<string>;
}

/** The platform that a browser tells of itself, as far as it does. */
export function platformOf(userAgent: string | undefined): Platform | undefined {
  if (userAgent === undefined) return undefined;
  if (/Android/i.test(userAgent)) return "android";
  if (/iPhone|iPad|iPod/i.test(userAgent)) return "ios";
  return /Windows NT|Macintosh|X11|Linux/i.test(userAgent) ? "desktop" : undefined;
}

/** `pt-BR` is `pt`. */
export function languageOf(tag: string | undefined): string | undefined {
  const [language = ""] = (tag ?? "")
    .trim()
    .toLowerCase()
    .split(/[-_,;]/);
  return /^[a-z]{2,3}$/.test(language) ? language : undefined;
}

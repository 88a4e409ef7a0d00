import { type WebAddressFault, webAddressFault } from "@intermission/ad-core/web-address";

export type LandingUrlCheck = { outcome: "valid"; url: string } | { outcome: "invalid"; message: string };

const LONGEST = 2048;

const faults = {
  "not-an-address": "is not an address; write it in full, as https://example.com/page",
  scheme: "must begin with https:// or http://",
  "user-info": "must not hold a user name or password",
} satisfies Record<WebAddressFault, string>;

/** Checks a page that a viewer may be sent to: http or https (including t.me), without a user name or password. */
export function checkLandingUrl(text: string): LandingUrlCheck {
  if (text.length > LONGEST) return invalid(`is longer than ${LONGEST} characters`);
  const fault = webAddressFault(text, { isPlainHttpAllowed: true });
  if (fault !== undefined) return invalid(faults[fault]);
  return { outcome: "valid", url: new URL(text).href };
}

function invalid(fault: string): LandingUrlCheck {
  return { outcome: "invalid", message: `the landing URL ${fault}` };
}

export interface LandingMacros {
  click_id: string;
  code: string;
  bot_id: string;
  campaign_id: string;
  creative_id: string;
}

/** URL parsers write the braces of a path as %7B and %7D. */
const MACRO = /(?:\{|%7B)(click_id|code|bot_id|campaign_id|creative_id)(?:\}|%7D)/gi;

/** The landing page with its macros filled in, percent-encoded; never in scheme or host. */
export function landingAddress(landingUrl: string, macros: LandingMacros): string {
  const { origin } = new URL(landingUrl);
  const rest = landingUrl.slice(origin.length);
  if (!landingUrl.startsWith(origin)) throw new Error("a stored landing URL is not in its canonical form");
  return (
    origin +
    rest.replace(MACRO, (_macro, name: string) => encodeURIComponent(macros[name.toLowerCase() as keyof LandingMacros]))
  );
}

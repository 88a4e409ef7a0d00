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

import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Consent } from "@intermission/ad-core/consent";
import type { BuyerSettings } from "@intermission/operator-api/buyers";
import { regulatedCategories } from "@intermission/operator-api/regulated-categories";
import type { BoughtFormat } from "../bought-formats.ts";
import { alpha3Of } from "./country-codes.ts";
import { blockedAttributes } from "./judge-bid.ts";
import { decimalText } from "./read-price.ts";

/** An opening, as far as a buyer may learn of it. */
export interface BidOpening {
  format: BoughtFormat;
  requestId: string;
  botId: string;
  botName: string;
  userId: string;
  userAgent: string;
  language: string | undefined;
  country: string | null | undefined;
  isPremium: boolean;
  /** As the publisher said; undefined: nothing. */
  consent: Consent | undefined;
  /** Sent only where the buyer's settings say so. */
  address: string | undefined;
  isTest: boolean;
}

/** Who sells: what is the same for each request. */
export interface Seller {
  /** Where the mini-app is; its host is the site and the seller's system. */
  publicUrl: string;
  currency: string;
}

export const IMPRESSION_ID = "1";
/** The bounds of a bought video. */
export const durationSeconds = { min: 5, max: 60 };
/** A win is worth nothing after it, since offers are not older (OpenRTB 2.6, `imp.exp`). */
const EXPIRES_SECONDS = 900;
/** AdCOM, "Creative Subtypes - Audio/Video": VAST 2, 3, 4.0 to 4.2, and the wrappers of each. */
const vastProtocols = [2, 3, 5, 6, 7, 8, 11, 12, 13, 14];

type RequestedBuyer = Pick<
  BuyerSettings,
  | "sends"
  | "floorMicros"
  | "blockedCategories"
  | "categoryTaxonomy"
  | "allowedRegulated"
  | "blockedDomains"
  | "storedRequest"
  | "alwaysTests"
> & { userKey: Uint8Array; skipAfterSeconds: number };

/**
 * A request of OpenRTB 2.6 for one video, rewarded or as an interstitial, which may be skipped. `video.api` is absent: no script of an ad runs. `site`, since a mini-app has no
 * store page; `user.id` differs for each buyer and bot, and tells no Telegram id.
 */
export function bidRequestOf(
  opening: BidOpening,
  buyer: RequestedBuyer,
  { seller, tmaxMs }: { seller: Seller; tmaxMs: number },
) {
  const { requestId, botId, isTest } = opening;
  const isRewarded = opening.format === "rewarded";
  const { hostname: domain } = new URL(seller.publicUrl);
  const publisher = { id: botId, name: opening.botName, domain };
  const user = userOf(opening, buyer);
  const { blockedCategories, categoryTaxonomy, blockedDomains: badv, storedRequest } = buyer;
  const regulated = regulatedCategories(categoryTaxonomy, buyer.allowedRegulated) ?? [];
  const bcat = [...new Set([...blockedCategories, ...regulated])];
  return {
    id: requestId,
    imp: [
      {
        id: IMPRESSION_ID,
        video: {
          mimes: ["video/mp4", "video/webm"],
          minduration: durationSeconds.min,
          maxduration: durationSeconds.max,
          protocols: vastProtocols,
          plcmt: 3,
          linearity: 1,
          startdelay: 0,
          ...skippable(opening, buyer),
          delivery: [2],
          companiontype: [1],
          battr: blockedAttributes,
        },
        instl: 1,
        rwdd: isRewarded ? 1 : 0,
        secure: 1,
        exp: EXPIRES_SECONDS,
        tagid: `${botId}/${opening.format}`,
        // The shortest text of this number is the decimal one.
        bidfloor: Number(decimalText(buyer.floorMicros)),
        bidfloorcur: seller.currency,
        ...(storedRequest !== null && { ext: { prebid: { storedrequest: { id: storedRequest } } } }),
      },
    ],
    site: { id: botId, domain, page: new URL(`/app/${botId}`, seller.publicUrl).href, publisher },
    device: deviceOf(opening, buyer),
    ...(user !== undefined && { user }),
    ...(opening.consent !== undefined && { regs: regsOf(opening.consent) }),
    test: isTest || buyer.alwaysTests ? 1 : 0,
    at: 1,
    tmax: tmaxMs,
    cur: [seller.currency],
    ...(bcat.length > 0 && { bcat }),
    cattax: categoryTaxonomy,
    ...(badv.length > 0 && { badv }),
    source: { tid: requestId, schain: { complete: 1, ver: "1.0", nodes: [{ asi: domain, sid: botId, hp: 1 }] } },
  };
}

/** `skipmin`: shorter videos cannot be skipped, since they end before. */
function skippable({ format }: BidOpening, { skipAfterSeconds: seconds }: RequestedBuyer) {
  return format === "rewarded" ? { skip: 0 } : { skip: 1, skipmin: seconds, skipafter: seconds };
}

type BidRequest = ReturnType<typeof bidRequestOf>;

interface SentUser {
  id?: string;
  consent?: string;
}

function userOf({ botId, userId, consent }: BidOpening, { sends, userKey }: RequestedBuyer): SentUser | undefined {
  const id = createHmac("sha256", userKey).update(`${botId} ${userId}`).digest("base64url");
  const user: SentUser = {
    ...(sends.includes("user-id") && { id }),
    ...(consent?.tcf !== undefined && { consent: consent.tcf }),
  };
  return Object.keys(user).length > 0 ? user : undefined;
}

/** OpenRTB 2.6, 3.2.3. A string of TCF says that the law applies. */
function regsOf({ gdpr, tcf, gpp, gpp_sid }: Consent): { gdpr?: 0 | 1; gpp?: string; gpp_sid?: readonly number[] } {
  const applies = gdpr ?? (tcf !== undefined ? true : undefined);
  return {
    ...(applies !== undefined && { gdpr: applies ? 1 : 0 }),
    ...(gpp !== undefined && { gpp }),
    ...(gpp_sid !== undefined && { gpp_sid }),
  };
}

interface SentDevice {
  ua?: string;
  language?: string;
  langb?: string;
  geo?: { country: string };
  ip?: string;
  ipv6?: string;
}

function deviceOf({ userAgent, language, country, address }: BidOpening, { sends }: RequestedBuyer): SentDevice {
  const alpha3 = alpha3Of(country);
  const isSent = address !== undefined && sends.includes("address");
  return {
    ...(userAgent !== "" && { ua: userAgent }),
    // OpenRTB: `language` has two letters, `langb` is BCP 47; a request has only one of them.
    ...(language !== undefined && (/^[a-z]{2}$/i.test(language) ? { language } : { langb: language })),
    ...(alpha3 !== undefined && { geo: { country: alpha3 } }),
    ...(isSent && (isIPv6(address) ? { ipv6: address } : { ip: address })),
  };
}

/** The request as it may be kept: whose it was is left out. */
export function keptText({ device, user, ...request }: BidRequest): string {
  const { ip, ipv6, ...others } = device;
  const kept = {
    ...request,
    device: { ...others, ...(ip !== undefined && { ip: KEPT }), ...(ipv6 !== undefined && { ipv6: KEPT }) },
    ...(user !== undefined && { user: { ...user, ...(user.id !== undefined && { id: KEPT }) } }),
  };
  return JSON.stringify(kept, null, 2);
}

const KEPT = "sent, not kept";

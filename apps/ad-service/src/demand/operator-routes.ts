import { randomBytes } from "node:crypto";
import { webAddressFault } from "@intermission/ad-core/web-address";
import { buyerRoutes } from "@intermission/operator-api/buyers";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, invalidField } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { addBuyer, listBuyers, type RequestedBuyer, readBuyers, requireBuyer, updateBuyer } from "../buyers/buyers.ts";
import { describeDevice } from "../creatives/choose-rendition.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { Turns } from "../vast/read-xml.ts";
import { unwrapTag } from "../vast/unwrap-tag.ts";
import { buysFormat, formatsOfProtocol } from "./bought-formats.ts";
import { readResults } from "./buyer-results.ts";
import { keepExchange, listExchanges } from "./exchanges.ts";
import type { BidOpening } from "./openrtb/bid-request.ts";
import { isFit } from "./openrtb/judge-bid.ts";
import { partnerReportOperatorRoutes } from "./partner-reports.ts";
import { takeCard } from "./read-card.ts";
import { type BuyerAnswer, requestBid } from "./request-bids.ts";
import { readSources } from "./source-figures.ts";
import { takeBid } from "./take-bid.ts";

export interface BuyerOperatorDeps {
  database: Database;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  /** Of reading VAST. */
  turns: Turns;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  currency: string;
  publicUrl: string;
  isPlainHttpAllowed: boolean;
  now: () => Date;
}

/** Longer than any opening waits: the operator wants to see what a slow buyer answers. */
const TRIAL_MS = 5000;
const MAX_TRIED_BIDS = 3;
const PHONE =
  "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/** Buyers of OpenRTB. */
export function buyerOperatorRoutes(scope: CheckedScope, deps: BuyerOperatorDeps): void {
  const { database, campaigns, currency, publicUrl, now } = deps;
  const requireHttps = (url: string | undefined) => {
    if (url === undefined || webAddressFault(url, deps) === undefined) return;
    throw invalidField("url", "must begin with https://", fieldFault("ADDRESS_NEEDS_HTTPS"));
  };
  partnerReportOperatorRoutes(scope, deps);
  serveOperatorRoutes(scope, buyerRoutes, {
    async listBuyers({ query }) {
      const { rows: buyers, next } = await listBuyers(database, query);
      return { buyers, next };
    },

    showBuyer: ({ params }) => requireBuyer(database, params.buyerId),

    async addBuyer({ body, http }) {
      requireHttps(body.url);
      const buyer = await addBuyer(deps, { ...body, author: authorOf(http), now: now() });
      const { name } = body;
      if (buyer === undefined) throw conflict("ADVERTISER_EXISTS", `there is already an advertiser ${name}`, { name });
      await campaigns.refresh();
      return buyer;
    },

    async updateBuyer({ params: { buyerId }, body, http }) {
      await requireBuyer(database, buyerId);
      requireHttps(body.url);
      const buyer = await updateBuyer(deps, { buyerId, author: authorOf(http), change: definedOf(body) });
      await campaigns.refresh();
      return buyer;
    },

    async tryBuyer({ params: { buyerId } }) {
      await requireBuyer(database, buyerId);
      const buyer = (await readBuyers(database)).find((one) => one.buyerId === buyerId);
      if (buyer === undefined) throw new Error(`the buyer ${buyerId} disappeared; buyers are never deleted`);
      const seller = { currency, publicUrl };
      const patient = { ...buyer, tmaxMs: TRIAL_MS };
      const answer = await requestBid({ ...deps, seller }, patient, { opening: trialOpening(buyer), leftMs: TRIAL_MS });
      const { request } = answer;
      await readTrial(deps, answer);
      return keepExchange(database, { ...answer, request: request ?? nothingSent }, now());
    },

    async showBids({ params: { buyerId } }) {
      const { campaignId } = await requireBuyer(database, buyerId);
      return { buyerId, currency, ...(await readResults(database, { buyerId, campaignId, now: now() })) };
    },

    showDemand: async () => ({ currency, ...(await readSources(database, now())) }),

    async readBids({ params: { buyerId } }) {
      await requireBuyer(database, buyerId);
      return { exchanges: await listExchanges(database, buyerId) };
    },
  });
}

/** Reads the ads of a trial's bids, the dearest first, until one can be shown; nothing is reported to their servers. */
async function readTrial(deps: BuyerOperatorDeps, answer: BuyerAnswer): Promise<void> {
  const { currency, now } = deps;
  const viewer = { viewId: "trial", userAgent: PHONE, device: describeDevice({ "user-agent": PHONE }), now };
  const bids = answer.bids.filter(isFit).toSorted((a, b) => b.cpmMicros - a.cpmMicros);
  const read = (source: { markup: string } | { url: string }) =>
    unwrapTag({ ...deps, totalMs: TRIAL_MS }, { ...viewer, ...source });
  for (const fit of bids.slice(0, MAX_TRIED_BIDS)) {
    const taken = buysFormat(answer.buyer, "card")
      ? takeCard(fit, deps)
      : await takeBid(read, { answer, fit, currency, now: now() });
    fit.outcome = answer.outcome = "detail" in taken ? taken.outcome : "accepted";
    answer.detail = "detail" in taken ? taken.detail : null;
    if (!("detail" in taken)) return;
  }
}

/** Without the fields that the request leaves out. */
function definedOf<Body extends object>(body: Body): { [Name in keyof Body]: Exclude<Body[Name], undefined> } {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as never;
}

/** Of a buyer that requires what was not entered or may not be sent. */
const nothingSent = { id: "trial", botId: "0", isTest: true, kept: () => "Nothing was sent." };

/** As of a viewer with an Android phone, who is no user of a bot. */
function trialOpening({ protocol }: RequestedBuyer): BidOpening {
  const [format] = formatsOfProtocol[protocol];
  return {
    format,
    requestId: `trial-${randomBytes(9).toString("base64url")}`,
    botId: "0",
    botName: "Trial",
    userId: "0",
    userAgent: PHONE,
    language: "en",
    country: undefined,
    isPremium: false,
    // The request is about no real user, so the buyer gets all that its settings permit.
    consent: { gdpr: false },
    // Reserved for documentation (RFC 5737).
    address: "192.0.2.1",
    isTest: true,
  };
}

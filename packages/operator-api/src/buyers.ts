import { z } from "zod";
import { grants } from "./access.ts";
import { microsOf } from "./amounts.ts";
import { bidOutcomes } from "./bid-outcomes.ts";
import { consentOutcomes } from "./consent-outcomes.ts";
import { forms } from "./field-forms.ts";
import {
  boundedText,
  callableAddress,
  micros,
  moment,
  namesSetting,
  next,
  nothingToChange,
  wholeList,
} from "./fields.ts";
import { regulatedKinds } from "./regulated-categories.ts";
import type { OperatorRoutes } from "./route.ts";

/** What may be told of a viewer only where the operator says so. */
export const sentFacts = ["user-id", "address", "telegram-id"] as const;

/** OpenRTB 2.6, and the feeds of networks. */
export const buyerProtocols = ["openrtb", "richads", "richads-cards"] as const;
export type BuyerProtocol = (typeof buyerProtocols)[number];

const wholeNumber = (min: number, max: number) => {
  const message = `must be from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};

/** As the standard's examples are written. */
function adsTxtRecord(text: string): string {
  const [domain = "", account = "", relationship = "", ...others] = text.split(",").map((field) => field.trim());
  return [domain.toLowerCase(), account, relationship.toUpperCase(), ...others].join(", ");
}

const settings = {
  protocol: z
    .enum(buyerProtocols)
    .describe(
      "`openrtb`: OpenRTB 2.6; `richads`: the video feed of RichAds, which requires the address, and whose key is the publisher's number; `richads-cards`: its messages for chats, with the same key.",
    ),
  url: callableAddress.describe("Where requests are sent."),
  tmaxMs: wholeNumber(50, 800).describe(
    "How long an answer may take, in milliseconds; never longer than what is left of an opening.",
  ),
  sends: z
    .array(z.enum(sentFacts))
    .max(sentFacts.length)
    .describe(
      "`user-id`: a key that differs for each buyer and bot, never the Telegram id; `address`: the IP address; `telegram-id`: the Telegram id, to feeds alone.",
    ),
  tcfVendorId: wholeNumber(1, 65_535)
    .nullable()
    .describe("Its number in IAB's Global Vendor List: without it, no consent by TCF can name the buyer."),
  floorMicros: microsOf("price").describe("The lowest price of 1,000 impressions."),
  blockedCategories: z
    .array(boundedText(32))
    .max(500)
    .describe("Codes of the taxonomy, such as `IAB25`, which includes `IAB25-3`."),
  categoryTaxonomy: wholeNumber(1, 9).describe(
    "The taxonomy of these codes, by its number in the list of AdCOM: 1 is IAB Content Category 1.0.",
  ),
  blockedDomains: z.array(boundedText(253)).max(500).describe("Of advertisers; a domain includes those below it."),
  needsCategory: z.boolean().describe("Whether a bid without a category of this taxonomy is refused."),
  allowedRegulated: z
    .array(z.enum(regulatedKinds))
    .max(regulatedKinds.length)
    .describe(
      "Of the kinds that laws restrict, those whose ads are shown; each other one is refused by its category, and with it any category of a taxonomy that is not known.",
    ),
  firstSeenLimit: wholeNumber(0, 1_000_000).describe(
    "How often a creative is offered before a person has approved it; 0: never.",
  ),
  reportLimit: wholeNumber(1, 1000).describe(
    "So many viewers who report an approved creative pause it; of one that was not approved, the first one does.",
  ),
  storedRequest: boundedText(128)
    .nullable()
    .describe("The id of a stored request of Prebid Server, which names its bidders."),
  adsTxt: z
    .array(
      z
        .string()
        .overwrite(adsTxtRecord)
        .regex(forms.ADS_TXT_RECORD, "must be a record of ads.txt, such as exchange.example, 1234, RESELLER"),
    )
    .max(100)
    .describe("Records that the buyer asks to be published in ads.txt, while it is on."),
  alwaysTests: z
    .boolean()
    .describe("Whether each request is marked as a test, which is not paid; those of testers always are."),
};

/** What a new buyer has where nothing else is said. */
export const usualBuyer = {
  protocol: "openrtb",
  tmaxMs: 300,
  sends: [],
  tcfVendorId: null,
  floorMicros: 0,
  blockedCategories: [],
  categoryTaxonomy: 1,
  blockedDomains: [],
  needsCategory: false,
  allowedRegulated: [],
  firstSeenLimit: 100,
  reportLimit: 3,
  storedRequest: null,
  adsTxt: [],
  alwaysTests: false,
} satisfies Omit<BuyerSettings, "url">;

const key = z
  .string()
  .trim()
  .min(1, "must have 1 to 512 characters")
  .max(512, "must have 1 to 512 characters")
  .nullable()
  .describe("Sent as `Authorization: Bearer`, or as the feed has it, and never shown again.");

const storedSettings = z.strictObject(settings);
export type BuyerSettings = z.output<typeof storedSettings>;

/** What can be changed of a buyer. */
export const buyerSettings = z.strictObject({
  isActive: z.boolean().describe("Whether openings are offered to it."),
  key,
  ...settings,
});

const newBuyer = z.strictObject({
  name: boundedText(128).describe("Shown to viewers whose ad names no advertiser."),
  protocol: settings.protocol.default(usualBuyer.protocol),
  url: settings.url,
  key: key.default(null),
  tmaxMs: settings.tmaxMs.default(usualBuyer.tmaxMs),
  sends: settings.sends.default(usualBuyer.sends),
  tcfVendorId: settings.tcfVendorId.default(usualBuyer.tcfVendorId),
  floorMicros: settings.floorMicros.default(usualBuyer.floorMicros),
  blockedCategories: settings.blockedCategories.default(usualBuyer.blockedCategories),
  categoryTaxonomy: settings.categoryTaxonomy.default(usualBuyer.categoryTaxonomy),
  blockedDomains: settings.blockedDomains.default(usualBuyer.blockedDomains),
  needsCategory: settings.needsCategory.default(usualBuyer.needsCategory),
  allowedRegulated: settings.allowedRegulated.default(usualBuyer.allowedRegulated),
  firstSeenLimit: settings.firstSeenLimit.default(usualBuyer.firstSeenLimit),
  reportLimit: settings.reportLimit.default(usualBuyer.reportLimit),
  storedRequest: settings.storedRequest.default(usualBuyer.storedRequest),
  adsTxt: settings.adsTxt.default(usualBuyer.adsTxt),
  alwaysTests: settings.alwaysTests.default(usualBuyer.alwaysTests),
});

const buyer = z.object({
  buyerId: z.string(),
  name: z.string().describe("That of its advertiser."),
  isActive: z.boolean().describe("Whether openings are offered to it."),
  ...settings,
  hasKey: z.boolean(),
  currency: z.string().describe("Bids are taken in the deployment's currency alone."),
  advertiserId: z.string().describe("Whose account has what the buyer owes."),
  campaignId: z.string().describe("Whose targeting and caps hold for what it buys."),
  createdAt: moment,
});
export type Buyer = z.output<typeof buyer>;

const judgedBid = z.object({
  bidId: z.string(),
  seat: z.string().nullable(),
  outcome: z.enum(bidOutcomes),
  cpmMicros: micros.nullable().describe("The price of 1,000 impressions; null: it has none that can be read."),
  creativeId: z.string().nullable().describe("The `crid`."),
  domains: z.array(z.string()),
  categories: z.array(z.string()),
});

const exchange = z.object({
  exchangeId: z.string(),
  at: moment,
  botId: z.string(),
  isTest: z.boolean(),
  tookMs: z.int(),
  outcome: z.enum(bidOutcomes).describe("Of the request: of several bids, that of the best one."),
  consent: z
    .enum(consentOutcomes)
    .nullable()
    .describe("Whether an address and an id might be sent; null: the operator lets it have none."),
  nonBid: z.int().nullable().describe("Its number in the extension `seatnonbid` of OpenRTB; null: the bid won."),
  reason: z.int().nullable().describe("The buyer's own reason for no bid, its `nbr`."),
  detail: z
    .string()
    .nullable()
    .describe("What the server answered in place of a bid, or what was wrong with the markup."),
  bids: z.array(judgedBid),
  request: z.string().describe("As JSON, without the viewer's id and address."),
  answer: z.string().nullable().describe("At most 16 KiB of it."),
});
export type BuyerExchange = z.output<typeof exchange>;

const results = z.object({
  buyerId: z.string(),
  currency: z.string(),
  outcomes: z
    .array(z.object({ outcome: z.enum(bidOutcomes), count: z.int(), tookMs: z.int().describe("On average.") }))
    .describe("Of the openings of the last seven days, tests apart; the most frequent first."),
  consents: z
    .array(z.object({ consent: z.enum(consentOutcomes), count: z.int() }))
    .describe("Of the same openings: why an address and an id were sent, or not."),
  requests: z.int().describe("Of the same openings: requests that were sent."),
  bids: z.int().describe("Of the requests, the answers with a bid."),
  wins: z.int().describe("Of the bids, those whose ad was offered."),
  timeouts: z.int().describe("Of the requests, those that were not answered in time."),
  shown: z.int().describe("Impressions: from the first picture on, each is owed."),
  owedMicros: micros,
  completed: z.int().describe("Views that were paid to the publisher."),
  completedMicros: micros.describe("The price of these, of which the publisher has the share."),
  notCompletedMicros: micros.describe("Owed for what was shown and not completed: all of it is the operator's."),
});
export type BuyerResults = z.output<typeof results>;

/** What an ad comes from: own campaigns with videos, those with VAST tags alone, or a buyer. */
export const sourceKinds = ["own", "tags", "buyer"] as const;
export type SourceKind = (typeof sourceKinds)[number];

const sourceFigures = z.object({
  kind: z.enum(sourceKinds),
  buyerId: z.string().nullable(),
  name: z.string().nullable().describe("Of a buyer."),
  requests: z.int().describe("That were sent to the buyer; tests apart, as all of these."),
  bids: z.int(),
  wins: z.int(),
  timeouts: z.int(),
  shown: z.int().describe("What is paid: impressions of a buyer; of own campaigns views and clicks."),
  revenueMicros: micros.describe("What advertisers and buyers owe for it, with the publishers' share."),
});
export type SourceFigures = z.output<typeof sourceFigures>;

const demand = z.object({
  currency: z.string(),
  since: z.string().describe("The first of the seven days, UTC; the last one is today."),
  sources: z.array(sourceFigures).describe("The one with the greatest revenue first."),
});

const params = z.object({ buyerId: z.string().max(64) });

export const buyerRoutes = {
  listBuyers: {
    method: "GET",
    path: "/buyers",
    access: grants.readers,
    description: "Lists the buyers of OpenRTB.",
    query: z.object({ after: wholeList.after, limit: wholeList.limit }),
    answer: z.object({ buyers: z.array(buyer).describe("By their ids."), next }),
  },
  showBuyer: {
    method: "GET",
    path: "/buyers/:buyerId",
    access: grants.readers,
    description: "Returns a buyer.",
    params,
    answer: buyer,
  },
  addBuyer: {
    method: "POST",
    path: "/buyers",
    access: grants.staff,
    changes: "buyer",
    description:
      "Adds a buyer of OpenRTB, with an advertiser and a campaign of its own. It is off until it is turned on.",
    body: newBuyer.meta({
      examples: [{ name: "Exchange", url: "https://bids.exchange.example/openrtb2", floorMicros: 500_000 }],
    }),
    status: 201,
    answer: buyer,
    refusals: [409],
  },
  updateBuyer: {
    method: "PATCH",
    path: "/buyers/:buyerId",
    access: grants.staff,
    changes: "buyer",
    description: "Changes the given settings of a buyer, or turns it on or off.",
    params,
    body: buyerSettings
      .partial()
      .refine(namesSetting, nothingToChange)
      .meta({ examples: [{ isActive: true }, { floorMicros: 800_000, blockedCategories: ["IAB25", "IAB26"] }] }),
    answer: buyer.extend({
      isKeyRemoved: z
        .boolean()
        .describe(
          "Whether the stored key was removed, since the new address is on another host: a key is sent to no host but its own.",
        ),
    }),
  },
  showBids: {
    method: "GET",
    path: "/buyers/:buyerId/results",
    access: grants.moneyReaders,
    description: "Returns what became of the requests to a buyer, and what it owes.",
    params,
    answer: results,
  },
  showDemand: {
    method: "GET",
    path: "/demand",
    access: grants.moneyReaders,
    description:
      "Returns what each source of ads brought in the last seven days: own campaigns, VAST tags, each buyer.",
    answer: demand,
  },
  tryBuyer: {
    method: "POST",
    path: "/buyers/:buyerId/trial",
    access: grants.staff,
    changes: null,
    description:
      "Sends a buyer one request that is marked as a test, judges its answer, and reads the ad of the best bid. No notice is sent.",
    params,
    answer: exchange,
  },
  readBids: {
    method: "GET",
    path: "/buyers/:buyerId/exchanges",
    access: grants.staff,
    description:
      "Returns the latest requests to a buyer with their answers, at most twenty: of a busy one, one a second.",
    params,
    answer: z.object({ exchanges: z.array(exchange).describe("The latest first.") }),
  },
} as const satisfies OperatorRoutes;

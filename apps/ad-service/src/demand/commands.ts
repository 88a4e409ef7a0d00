import { createReadStream } from "node:fs";
import { bidOutcomesInEnglish } from "@intermission/operator-api/bid-outcomes";
import type { SourceKind } from "@intermission/operator-api/buyers";
import { consentOutcomesInEnglish } from "@intermission/operator-api/consent-outcomes";
import { withExamples } from "@intermission/server/command-line";
import { existingFile } from "@intermission/server/command-options";
import { recordOf } from "@intermission/server/command-tables";
import {
  callRoute,
  list,
  recordText,
  subject,
  type Verb,
  verb,
  type WireAnswer,
} from "@intermission/server/route-commands";

const settings = {
  protocol: "how it is requested",
  // The program itself has --url.
  url: { text: "where requests are sent", flag: "address", value: "url" },
  key: "sent as Authorization: Bearer, and never shown again",
  floorMicros: { text: "the lowest price of 1,000 impressions", flag: "floor" },
  tmaxMs: { text: "how long an answer may take, in milliseconds", flag: "tmax" },
  sends: "what it may learn of a viewer: a key of its own, never the Telegram id, or the IP address",
  tcfVendorId: { text: "its number in the Global Vendor List of IAB", flag: "tcf-vendor", value: "number" },
  blockedCategories: "a code such as IAB25, which includes IAB25-3",
  categoryTaxonomy: "the number of their taxonomy in the list of AdCOM; 1 is IAB Content Category 1.0",
  blockedDomains: "of an advertiser; a domain includes those below it",
  needsCategory: "refuse bids without a category of the taxonomy",
  allowedRegulated: {
    text: "a kind of ads that laws restrict, and that is shown",
    flag: "allowed-regulated",
    value: "kind",
  },
  firstSeenLimit: { text: "how often a creative is offered before a person has approved it", flag: "first-seen-limit" },
  reportLimit: { text: "so many viewers who report an approved creative pause it", flag: "report-limit" },
  storedRequest: "the id of a stored request of Prebid Server",
  adsTxt: { text: "a record for /ads.txt, as the buyer gives it", value: "record" },
  alwaysTests: "mark each request as a test, which is not paid",
} as const;

/** Of none, nothing can be said. */
function share(part: number, whole: number): string {
  return whole === 0 ? "none" : `${Math.round((1000 * part) / whole) / 10} %`;
}

const sourceNames = { own: "own campaigns", tags: "VAST tags", buyer: "a buyer" } satisfies Record<SourceKind, string>;

function sourceText(source: WireAnswer<"showDemand">["sources"][number]): string {
  const { kind, name, requests, bids, wins, timeouts, shown, revenueMicros } = source;
  const earned = `${name ?? sourceNames[kind]}: ${revenueMicros / 1_000_000} for ${shown}`;
  if (kind !== "buyer") return earned;
  const rates = `bid rate ${share(bids, requests)}, win rate ${share(wins, bids)}, timeouts ${share(timeouts, requests)}`;
  return `${earned}; ${rates} of ${requests} requests`;
}

type Exchange = WireAnswer<"tryBuyer">;

/** One exchange, with each bid in a sentence, and both texts. */
function exchangeText({
  outcome,
  nonBid,
  reason,
  detail,
  bids,
  request,
  answer,
  consent,
  tookMs,
  at,
  botId,
  isTest,
}: Exchange): string {
  const facts = { at, botId, isTest, tookMs, outcome: bidOutcomesInEnglish[outcome], nonBid, reason, detail };
  const reported = consent === null ? [] : [`consent: ${consentOutcomesInEnglish[consent]}`];
  const judged = bids.map(({ bidId, seat, outcome: of, cpmMicros, creativeId }) => {
    const names = [bidId, seat, creativeId].filter((name) => name !== null && name !== "").join(" / ");
    const price = cpmMicros === null ? "no price" : `${cpmMicros / 1_000_000} for 1,000`;
    return `bid ${names}: ${price}: ${bidOutcomesInEnglish[of]}`;
  });
  return [recordOf(facts), ...reported, ...judged, `request: ${request}`, `answer: ${answer ?? "none"}`].join("\n");
}

/** Stores a partner's own report, a file of comma-separated values. */
const importReport: Verb = (command, context) => {
  withExamples(command.description("store what a partner's own report says of each day, to compare it"), [
    "buyers import-report buy_8fJ2kLm4Qr9T march.csv --day Date --amount Revenue --time-zone Europe/Berlin",
  ])
    .argument("<buyer-id>")
    .argument("<file>", "comma-separated values with heads, in the currency of this deployment", existingFile)
    .option("--day <column>", "the head of the column of days", "date")
    .option("--impressions <column>", "the head of the column of impressions, if there is one", "impressions")
    .option("--amount <column>", "the head of the column of amounts", "revenue")
    .option("--time-zone <zone>", "of its days", "UTC")
    .action(async (buyerId: string, file: string, query: Record<string, string>) => {
      const body = createReadStream(file);
      const imported = await callRoute(context, "importPartnerReport", { params: { buyerId }, query, body });
      context.print(imported, () => recordOf(imported));
    });
};

export const buyerCommands = subject("buyers", "buyers of OpenRTB, which bid for openings", {
  list: list("listBuyers", "buyers", {
    description: "all buyers",
    columns: {
      BUYER: "name",
      ON: "isActive",
      ADDRESS: "url",
      TMAX: "tmaxMs",
      ID: "buyerId",
    },
  }),
  show: verb("showBuyer", { description: "one buyer, with its settings" }),
  add: verb("addBuyer", {
    description: "add a buyer, with an advertiser and a campaign of its own; it is off until: buyers set --active yes",
    arguments: ["name"],
    options: { name: { text: "shown to viewers whose ad names no advertiser", example: "'Exchange'" }, ...settings },
    examples: ["'Exchange' --address https://bids.exchange.example/openrtb2 --floor 0.5 --blocked-categories IAB25"],
  }),
  set: verb("updateBuyer", {
    description: "change the settings of a buyer, or turn it on or off",
    options: { isActive: { text: "whether openings are offered to it", flag: "active" }, ...settings },
    examples: ["buy_8fJ2kLm4Qr9T --active yes", "buy_8fJ2kLm4Qr9T --floor 0.8 --sends user-id"],
  }),
  results: verb("showBids", {
    description: "what became of the requests to it in seven days, and what it owes",
    text: ({ outcomes, consents, requests, bids, wins, timeouts, ...money }) =>
      [
        recordText(money),
        `bid rate ${share(bids, requests)}, win rate ${share(wins, bids)}, timeouts ${share(timeouts, requests)} of ${requests} requests`,
        ...outcomes.map(({ outcome, count, tookMs }) => `${count} × ${bidOutcomesInEnglish[outcome]} (${tookMs} ms)`),
        ...consents.map(({ consent, count }) => `${count} × ${consentOutcomesInEnglish[consent]}`),
      ].join("\n"),
  }),
  sources: verb("showDemand", {
    description: "what each source of ads brought in seven days: own campaigns, VAST tags, each buyer",
    text: ({ sources, since, currency }) =>
      sources.length === 0
        ? "Nothing was shown in the last seven days."
        : [`since ${since}, in ${currency}`, ...sources.map((source) => sourceText(source))].join("\n"),
  }),
  "import-report": importReport,
  differences: list("listPartnerDifferences", "differences", {
    description: "days on which a partner's report differs from what was shown here",
    options: { buyerId: { flag: "buyer", value: "id" }, threshold: { flag: "threshold", value: "percent" } },
    columns: {
      DAY: ({ day, timeZone }) => `${day} ${timeZone}`,
      PARTNER: "name",
      THEIRS: "theirMicros",
      OURS: "ourMicros",
      DIFFERENCE: ({ differencePercent }) => (differencePercent === null ? "all" : `${differencePercent} %`),
      IMPRESSIONS: ({ theirImpressions, ourImpressions }) => `${theirImpressions ?? "–"} of ${ourImpressions}`,
      LEVEL: "level",
    },
  }),
  creatives: list("listBoughtCreatives", "creatives", {
    description: "what buyers have bid with, and what waits for a review",
    options: { buyerId: { flag: "buyer", value: "id" }, review: { flag: "review" }, after: { value: "id" } },
    columns: {
      "FIRST SEEN": "firstSeenAt",
      BUYER: "buyer",
      CREATIVE: ({ title, creativeId, mediaUrl }) => title ?? creativeId ?? mediaUrl,
      "LEADS TO": ({ landingHosts }) => landingHosts.join(" "),
      REVIEW: "review",
      OFFERED: ({ offered, firstSeenLimit }) => `${offered} of ${firstSeenLimit}`,
      REPORTS: "reports",
      REVISION: "revision",
      ID: "boughtCreativeId",
    },
  }),
  "approve-creative": verb("approveBoughtCreative", {
    description: "let a bought creative be shown without a limit",
    options: { revision: { value: "number" } },
  }),
  "refuse-creative": verb("refuseBoughtCreative", {
    description: "keep a bought creative from being shown",
    options: { revision: { value: "number" }, reason: { value: "text" } },
  }),
  "reopen-creative": verb("reopenBoughtCreative", {
    description: "take a decision about a bought creative back",
    options: { revision: { value: "number" } },
  }),
  try: verb("tryBuyer", {
    description: "send it one request that is marked as a test, and judge the answer",
    text: exchangeText,
  }),
  exchanges: verb("readBids", {
    description: "the latest twenty requests to it with their answers, and why each bid was refused",
    text: ({ exchanges }) =>
      exchanges.length === 0 ? "Nothing was sent to it yet: buyers try" : exchanges.map(exchangeText).join("\n\n"),
  }),
});

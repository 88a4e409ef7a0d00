/**
 * What became of a request to a buyer, or of one of its bids: one word for each. Its numbers are those of others: `nonBid` of the
 * OpenRTB extension `seatnonbid` (null: it won), and `loss` of AdCOM's list "Loss Reason Codes", for `${AUCTION_LOSS}` (null:
 * there is no bid to tell it of).
 */
export const bidOutcomeNumbers = {
  won: { nonBid: null, loss: null },
  lost: { nonBid: 300, loss: 102 },
  "not-offered": { nonBid: 300, loss: 2 },
  accepted: { nonBid: null, loss: null },
  "no-bid": { nonBid: 0, loss: null },
  timeout: { nonBid: 101, loss: null },
  unreachable: { nonBid: 103, loss: null },
  status: { nonBid: 100, loss: null },
  malformed: { nonBid: 102, loss: 3 },
  "too-large": { nonBid: 102, loss: null },
  "other-request": { nonBid: 102, loss: 5 },
  "other-impression": { nonBid: 102, loss: 3 },
  "other-currency": { nonBid: 300, loss: 3 },
  "no-price": { nonBid: 102, loss: 9 },
  "implausible-price": { nonBid: 102, loss: 3 },
  "below-floor": { nonBid: 301, loss: 100 },
  "other-format": { nonBid: 353, loss: 204 },
  "other-duration": { nonBid: 353, loss: 204 },
  "no-markup": { nonBid: 350, loss: 7 },
  "broken-markup": { nonBid: 350, loss: 200 },
  "blocked-attribute": { nonBid: 350, loss: 210 },
  "blocked-domain": { nonBid: 356, loss: 205 },
  "blocked-category": { nonBid: 357, loss: 209 },
  "no-category": { nonBid: 357, loss: 209 },
  unreviewed: { nonBid: 350, loss: 201 },
  disapproved: { nonBid: 350, loss: 202 },
  resting: { nonBid: 200, loss: null },
  busy: { nonBid: 200, loss: null },
  "no-time": { nonBid: 200, loss: null },
  "not-permitted": { nonBid: 200, loss: null },
} as const satisfies Record<string, { nonBid: number | null; loss: number | null }>;

/** Nothing was sent. */
export const notRequested = ["resting", "busy", "no-time", "not-permitted"] as const satisfies readonly BidOutcome[];
/** No bid came back: the buyer had none, or failed. */
export const outcomesWithoutBid: readonly BidOutcome[] = [
  "no-bid",
  "timeout",
  "unreachable",
  "status",
  "malformed",
  "too-large",
];

/** How a buyer answers, of the openings that it was offered. */
export interface BidRates {
  requests: number;
  bids: number;
  wins: number;
  timeouts: number;
}

export function bidRates(outcomes: readonly { outcome: BidOutcome; count: number }[]): BidRates {
  const sumOf = (isCounted: (outcome: BidOutcome) => boolean) =>
    outcomes.reduce((sum, { outcome, count }) => sum + (isCounted(outcome) ? count : 0), 0);
  const isSent = (outcome: BidOutcome) => !(notRequested as readonly BidOutcome[]).includes(outcome);
  return {
    requests: sumOf(isSent),
    bids: sumOf((outcome) => isSent(outcome) && !outcomesWithoutBid.includes(outcome)),
    wins: sumOf((outcome) => outcome === "won"),
    timeouts: sumOf((outcome) => outcome === "timeout"),
  };
}

export type BidOutcome = keyof typeof bidOutcomeNumbers;
export const bidOutcomes = Object.keys(bidOutcomeNumbers) as [BidOutcome, ...BidOutcome[]];

/** What each outcome means to the operator who reads it. The console has the other languages. */
export const bidOutcomesInEnglish = {
  won: "the bid won: its ad was offered",
  lost: "another ad was worth more",
  "not-offered": "the bid was worth the most, and a limit or another opening kept its ad from being offered",
  accepted: "the ad can be shown; a test offers it to nobody",
  "no-bid": "no bid",
  timeout: "no answer in time",
  unreachable: "the server could not be reached",
  status: "another status than 200 or 204",
  malformed: "no valid JSON of a bid response",
  "too-large": "the answer is larger than 256 KiB",
  "other-request": "the answer is to another request",
  "other-impression": "the bid is for another impression",
  "other-currency": "the bid is in another currency",
  "no-price": "the bid has no price above 0",
  "implausible-price": "the price is above 1,000,000 for 1,000 impressions",
  "below-floor": "the price is below the floor",
  "other-format": "the bid is for no video",
  "other-duration": "the video is shorter than 5 or longer than 60 seconds",
  "no-markup": "the bid has neither adm nor nurl",
  "broken-markup": "no ad could be shown from its VAST",
  "blocked-attribute": "the ad has an attribute that is blocked",
  "blocked-domain": "the advertiser's domain is blocked",
  "blocked-category": "the ad's category is blocked",
  "no-category": "the bid names no category that can be compared",
  unreviewed: "the creative was offered as often as it may be before a person has seen it",
  disapproved: "the creative was refused, or viewers have reported it",
  resting: "not requested: five of its last ten requests failed",
  busy: "not requested: too many of its requests were under way",
  "no-time": "not requested: too little of the opening's time was left",
  "not-permitted": "not requested: its key is missing, or what it requires of the viewer may not be sent",
} satisfies Record<BidOutcome, string>;

import { bidOutcomes } from "@intermission/operator-api/bid-outcomes";
import { regulatedKinds } from "@intermission/operator-api/regulated-categories";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BidRules, judgeResponse } from "./judge-bid.ts";
import { readBidResponse } from "./read-bid-response.ts";

const judgeBody = (body: string, rules: BidRules) => judgeResponse(readBidResponse(body), rules);

const rules: BidRules = {
  requestId: "r1",
  impressionId: "1",
  currency: "USD",
  markupTypes: [2],
  floorMicros: 500_000,
  blockedCategories: ["IAB25", "IAB7-39"],
  taxonomy: 1,
  blockedDomains: ["casino.example"],
  needsCategory: false,
  allowedRegulated: [],
};
const bid = { id: "b1", impid: "1", price: 1.25, adm: "<VAST/>", adomain: ["shop.example"], cat: ["IAB22"], crid: "c" };
const answer = (change: object = {}, of: object = {}) =>
  JSON.stringify({ id: "r1", cur: "USD", seatbid: [{ seat: "s", bid: [{ ...bid, ...change }] }], ...of });
const outcomeOf = (body: string, change: Partial<BidRules> = {}) => judgeBody(body, { ...rules, ...change }).outcome;

test("a bid that may be shown has its price to the micro, from the text of the number", () => {
  const { outcome, bids } = judgeBody(answer().replace("1.25", "1.2500009"), rules);
  expect({ outcome, cpmMicros: bids[0]?.cpmMicros }).toEqual({ outcome: "lost", cpmMicros: 1_250_000 });
});

const noBids = [
  "",
  " \n",
  "{}",
  '{"id":"r1","seatbid":[]}',
  '{"id":"r1","nbr":8}',
  '{"id":"r1","seatbid":[{"bid":[]}]}',
  '{"seatbid":null}',
];
test.each(noBids)("the answer '%s' is no bid", (body) => {
  expect(outcomeOf(body)).toBe("no-bid");
});

test("the buyer's reason for no bid is kept", () => {
  expect(judgeBody('{"id":"r1","nbr":8}', rules).reason).toBe(8);
});

const malformed = [
  "{",
  "null",
  "[]",
  "7",
  "<html/>",
  '"bid"',
  '{"seatbid":{}}',
  '{"seatbid":[7]}',
  '{"seatbid":[{"bid":{}}]}',
  '{"seatbid":[{"bid":[null]}]}',
  "[".repeat(100_000),
  `{"seatbid":${"[".repeat(50_000)}`,
];
test.each(malformed.map((body) => [body.slice(0, 40), body]))("the answer %s is malformed", (_, body) => {
  expect(outcomeOf(body)).toBe("malformed");
});

const cases: [outcome: string, change: object, of?: object][] = [
  ["lost", { price: "1.25" }],
  ["lost", { impid: 1, id: 7 }],
  ["lost", { adomain: "shop.example", cat: "IAB22", attr: 1 }],
  ["lost", { price: 0.5 }],
  ["lost", {}, { cur: "usd" }],
  ["lost", {}, { cur: undefined }],
  ["lost", {}, { id: undefined }],
  ["lost", { unknown: { deep: [1] }, ext: null }],
  ["lost", { adm: undefined, nurl: "https://b.example/vast" }],
  ["lost", { mtype: 2 }],
  ["other-request", {}, { id: "r2" }],
  ["other-impression", { impid: "2" }],
  ["other-impression", { impid: undefined }],
  ["other-currency", {}, { cur: "EUR" }],
  ["no-price", { price: undefined }],
  ["no-price", { price: 0 }],
  ["no-price", { price: -1 }],
  ["no-price", { price: null }],
  ["no-price", { price: true }],
  ["no-price", { price: "1,25" }],
  ["no-price", { price: { amount: 1 } }],
  ["implausible-price", { price: 1_250_000_000 }],
  ["below-floor", { price: 0.499999 }],
  ["no-markup", { adm: undefined }],
  ["no-markup", { adm: "", nurl: " " }],
  ["other-format", { mtype: 1 }],
  ["blocked-domain", { adomain: ["casino.example"] }],
  ["blocked-domain", { adomain: ["shop.example", "WWW.Casino.example"] }],
  ["blocked-domain", { adomain: ["https://play.casino.example/path"] }],
  ["lost", { adomain: ["notcasino.example"] }],
  ["blocked-category", { cat: ["IAB25"] }],
  ["blocked-category", { cat: ["IAB22", "iab25-3"] }],
  ["blocked-category", { cat: ["IAB7-39"] }],
  ["lost", { cat: ["IAB7", "IAB251"] }],
  ["blocked-attribute", { attr: [8] }],
  ["blocked-attribute", { attr: ["14"] }],
];
test.each(cases)("%s: a bid with %j in an answer with %j", (outcome, change, of = {}) => {
  expect(outcomeOf(answer(change, of))).toBe(outcome);
});

/** A category of the same kind in each of them: AdCOM has 2, 5, 6, 7 and 9 for versions of the Content Taxonomy, 8 for Ad Product 2.0. */
const gambling = [
  [1, "IAB9-7"],
  [2, "181"],
  [5, "480"],
  [6, "524"],
  [7, "ZJG29S"],
  [8, "1361"],
  [9, "181"],
] as const;
test.each(gambling)("in the taxonomy %i, %s is refused unless gambling is allowed", (cattax, category) => {
  const body = answer({ cattax, cat: [category] });
  expect(outcomeOf(body)).toBe("blocked-category");
  expect(outcomeOf(body, { allowedRegulated: ["gambling"] })).toBe("lost");
  expect(outcomeOf(answer({ cattax, cat: ["1"] }))).toBe("lost");
});

test.each([0, 3, 4, 10, 501])("in the taxonomy %i, any category may be of a kind that is not allowed", (cattax) => {
  expect(outcomeOf(answer({ cattax, cat: ["1"] }))).toBe("blocked-category");
  expect(outcomeOf(answer({ cattax, cat: [] }))).toBe("lost");
  expect(outcomeOf(answer({ cattax, cat: ["1"] }), { allowedRegulated: regulatedKinds })).toBe("lost");
});

test("where a category is needed, one of another taxonomy cannot be compared", () => {
  expect(outcomeOf(answer({ cat: [] }), { needsCategory: true })).toBe("no-category");
  expect(outcomeOf(answer({ cattax: 6 }), { needsCategory: true })).toBe("no-category");
  expect(outcomeOf(answer({ cattax: 1 }), { needsCategory: true })).toBe("lost");
});

test("each of several bids has its own outcome, and one that may be shown names that of the answer", () => {
  const bids = [
    { ...bid, price: 0.1 },
    { ...bid, id: "b2" },
    { ...bid, id: "b3", cat: ["IAB25"] },
  ];
  const judged = judgeBody(JSON.stringify({ id: "r1", seatbid: [{ bid: bids }] }), rules);
  expect(judged.bids.map(({ outcome }) => outcome)).toEqual(["below-floor", "lost", "blocked-category"]);
  expect(judged.outcome).toBe("lost");
});

test("whatever a buyer answers has one named outcome, and no price is no whole number of micros", () => {
  const value = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom("1", "USD", "r1", 2, [8], "1.5"));
  const anyBid = fc.record(
    {
      id: value,
      impid: value,
      price: value,
      adm: value,
      nurl: value,
      adomain: value,
      cat: value,
      cattax: value,
      attr: value,
      mtype: value,
    },
    { requiredKeys: [] },
  );
  const anyAnswer = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record(
        { id: value, cur: value, nbr: value, seatbid: fc.oneof(value, fc.array(fc.record({ bid: fc.array(anyBid) }))) },
        { requiredKeys: [] },
      )
      .map((body) => JSON.stringify(body)),
    fc.tuple(fc.nat(200), fc.string()).map(([at, text]) => answer().slice(0, at) + text + answer().slice(at)),
  );
  fc.assert(
    fc.property(anyAnswer, (body) => {
      const judged = judgeBody(body, rules);
      expect(bidOutcomes).toContain(judged.outcome);
      for (const { outcome, cpmMicros } of judged.bids) {
        expect(bidOutcomes).toContain(outcome);
        expect(cpmMicros === null || Number.isSafeInteger(cpmMicros)).toBe(true);
        if (outcome === "lost") expect(cpmMicros).toBeGreaterThanOrEqual(rules.floorMicros);
      }
    }),
  );
});

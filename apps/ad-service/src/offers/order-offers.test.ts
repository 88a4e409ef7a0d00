import fc from "fast-check";
import { expect, test } from "vitest";
import { cpmMicrosOf, isSponsorship, type Offer, orderOffers } from "./order-offers.ts";

const own = (priority: string, viewPriceMicros: number, behindPlan?: number) =>
  ({ source: "own", state: { campaign: { priority, viewPriceMicros } }, behindPlan }) as unknown as Offer;
const bid = (cpmMicros: number) => ({ source: "buyer", answer: {}, fit: { cpmMicros } }) as unknown as Offer;

test("a sponsorship goes before any bid, and another campaign before a bid that is worth no more", () => {
  const [sponsor, standard] = [own("sponsorship", 10), own("standard", 2000)];
  expect(orderOffers([bid(9_000_000), standard, sponsor])[0]).toBe(sponsor);
  const same = bid(2_000_000);
  expect(orderOffers([same, standard])).toEqual([standard, same]);
  const better = bid(2_000_001);
  expect(orderOffers([standard, better])).toEqual([better, standard]);
});

test("of two campaigns that are worth the same, the one that is further behind its plan goes first", () => {
  const [less, more] = [own("standard", 1000, 2), own("standard", 1000, 7)];
  expect(orderOffers([less, more])).toEqual([more, less]);
});

test("no offer is lost, and behind the sponsorships none is worth more than one before it", () => {
  const offer = fc.oneof(
    fc
      .record({ price: fc.nat(5000), priority: fc.constantFrom("sponsorship", "standard", "house") })
      .map(({ price, priority }) => own(priority, price)),
    fc.nat(5_000_000).map(bid),
  );
  fc.assert(
    fc.property(fc.array(offer), (offers) => {
      const ordered = orderOffers(offers);
      expect(new Set(ordered)).toEqual(new Set(offers));
      const others = ordered.filter((one) => !isSponsorship(one)).map(cpmMicrosOf);
      expect(others).toEqual(others.toSorted((a, b) => b - a));
      expect(ordered.slice(0, ordered.length - others.length).every(isSponsorship)).toBe(true);
    }),
  );
});

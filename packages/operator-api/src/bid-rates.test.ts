import { expect, test } from "vitest";
import { bidOutcomes, bidRates, notRequested } from "./bid-outcomes.ts";

test("each outcome is in the rates once: not sent, without a bid, or a bid", () => {
  const rates = bidRates(bidOutcomes.map((outcome) => ({ outcome, count: 1 })));
  expect(rates).toEqual({
    requests: bidOutcomes.length - notRequested.length,
    bids: bidOutcomes.length - notRequested.length - 6,
    wins: 1,
    timeouts: 1,
  });
  expect(bidRates([])).toEqual({ requests: 0, bids: 0, wins: 0, timeouts: 0 });
});

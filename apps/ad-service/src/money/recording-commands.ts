import { verb } from "@intermission/server/route-commands";

const forStatement = { note: "for the statement" } as const;

const correction = {
  direction: { text: "credit: the account gets the amount; debit: it gives it", value: "way" },
  against: {
    text: "revenue: the operator bears or gets it; cash: money that came in or went out",
    value: "account",
  },
  note: { text: "why; it stands on the statement", value: "text" },
} as const;

const goodwill = '12.50 --direction credit --note "Goodwill for the outage of 3 March"';

/** What records payments: each once, by its key. */
export const recordingVerbs = {
  "top-up": verb("recordTopUp", {
    description: "record money that an advertiser paid in",
    arguments: ["advertiser", "amountMicros"],
    examples: ["'The Shop' 100 --reference INV-2026-014"],
    options: { reference: { text: "of the bank or the invoice", value: "text" }, ...forStatement },
  }),
  "correct-advertiser": verb("correctAdvertiser", {
    description: "correct an advertiser's account, by an entry of its own",
    arguments: ["advertiser", "amountMicros"],
    examples: [`'The Shop' ${goodwill}`],
    options: correction,
  }),
  "correct-publisher": verb("correctPublisher", {
    description: "correct what a bot's publisher is owed, by an entry of its own",
    arguments: ["botId", "amountMicros"],
    examples: [`7000000001 ${goodwill}`],
    options: correction,
  }),
  payout: verb("recordPayout", {
    description: "record that a publisher was paid everything until a month's end",
    arguments: ["botId", "month"],
    examples: ["7000000001 2026-02 --reference 'SEPA 4711'"],
    options: {
      month: "one that is over, such as 2026-02",
      reference: { text: "of the bank", value: "text" },
      ...forStatement,
    },
    without: ["amountMicros"],
  }),
};

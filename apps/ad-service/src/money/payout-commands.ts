import { amountOf } from "@intermission/operator-api/amounts";
import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { printedCsv } from "@intermission/server/command-tables";
import { addInput, callRoute, list, type Verb, verb } from "@intermission/server/route-commands";

const party = {
  legalName: { text: "as the bank and the tax office know it", value: "name" },
  address: { text: "on one line", value: "text" },
  taxId: { text: "of the tax office", value: "number" },
  personKind: "as it is filed in Russia: company, sole trader or person",
  inn: { text: "the taxpayer number in Russia", value: "number" },
  filedName: { text: "as Russia's registers have it, if it is another", value: "name" },
} as const;

const contract = {
  contractNumber: { text: "under which its ads are shown, as filed in Russia", value: "number" },
  contractDate: { text: "such as 2026-03-01", value: "day" },
  contractAmount: { text: "in roubles", value: "roubles" },
  contractType: "of services or of mediation",
  contractSubject: "what it is about",
  contractAction: "what is done, of a contract of mediation",
} as const;

/** The file of a run, as it is: to be sent to the bank. */
const runFile: Verb = (command, context) => {
  const readInput = addInput<"readPayoutRun">(command, operatorRoutes.readPayoutRun, {
    description: "print the file of a run for the bank",
    examples: ["run_2K18GkjhZUeUj --format sepa > payouts.xml"],
  });
  command.action(async () => {
    const input = await readInput(context);
    const file = await callRoute(context, "readPayoutRun", input);
    context.print(file, () => printedCsv(file));
  });
};

/** Payouts of a month to all publishers, and who the parties of statements and payouts are. */
export const payoutVerbs = {
  "pay-all": verb("payAll", {
    description: "record the payouts of a month to all publishers that have a payee",
    arguments: ["month"],
    examples: ["2026-02", "2026-02 --reference 'Rewards Ltd, February'"],
    options: {
      month: "one that is over, such as 2026-02",
      reference: { text: "on each payout, for its publisher and its bank", value: "text" },
    },
    without: ["amountMicros"],
  }),
  runs: list("listPayoutRuns", "runs", {
    description: "payouts that were recorded together",
    options: { after: { value: "id" } },
    columns: {
      MADE: "madeAt",
      MONTH: "month",
      PAYOUTS: "payouts",
      AMOUNT: ({ amountMicros, currency }) => `${amountOf(amountMicros)} ${currency}`,
      REFERENCE: "reference",
      ID: "runId",
    },
  }),
  "run-file": runFile,
  operator: verb("showOperatorParty", { description: "what statements and payouts say of the operator" }),
  "set-operator": verb("setOperatorParty", {
    description: "change what later statements and payouts say of the operator",
    examples: [
      "--legal-name 'Rewards Ltd' --iban 'DE89 3704 0044 0532 0130 00' --least-payout 20",
      "--tax-name VAT --tax-percent 19",
    ],
    options: {
      ...party,
      iban: { text: "of the account that payouts are paid from", value: "iban" },
      leastPayoutMicros: { flag: "least-payout", text: "what is less stays owed" },
      taxName: { text: "such as VAT", value: "name" },
      taxPercent: { text: "contained in the prices, such as 19", value: "percent" },
      domain: { text: "of the operator's company, for ads.txt", value: "domain" },
      contactEmail: { text: "for buyers, in ads.txt and sellers.json", value: "email" },
      tagId: { text: "of the Trustworthy Accountability Group", value: "id" },
    },
    without: ["expected"],
  }),
  party: verb("showAdvertiserParty", { description: "what the statements of an advertiser say of it" }),
  "set-party": verb("setAdvertiserParty", {
    description: "change what later statements of an advertiser say of it",
    examples: ["'The Shop' --legal-name 'Shop Ltd' --language ru"],
    options: {
      ...party,
      language: "of statements",
      taxNote: { text: "in place of the line of the tax", value: "text" },
      ...contract,
    },
    without: ["expected"],
  }),
  payee: verb("showPayee", { description: "to whom payouts of a bot go" }),
  "set-payee": verb("setPayee", {
    description: "change to whom later payouts of a bot go",
    examples: ["7000000001 --legal-name 'Quiz Studio' --iban NL91ABNA0417164300"],
    options: {
      ...party,
      iban: { text: "of the account that is paid", value: "iban" },
      language: "of statements",
      leastPayoutMicros: { flag: "least-payout", text: "what is less stays owed; none: as the operator says" },
      domain: { text: "of the publisher's company: publishes its name in sellers.json", value: "domain" },
    },
    without: ["expected"],
  }),
};

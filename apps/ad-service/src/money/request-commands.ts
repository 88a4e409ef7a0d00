import { amountOf } from "@intermission/operator-api/amounts";
import type { Requested } from "@intermission/operator-api/money-requests";
import { list, verb, type WireAnswer } from "@intermission/server/route-commands";

type Request = WireAnswer<"listMoneyRequests">["requests"][number];

const what = {
  setTerms: "credit",
  recordTopUp: "top-up",
  correctAdvertiser: "correction",
  correctPublisher: "correction",
  creditHeldPayment: "reported payment",
  recordPayout: "payout",
  payAll: "payouts of all",
  setApprovalAmount: "amount for approvals",
} as const satisfies Record<Requested["operation"], string>;

const shown = ({ requested, ...request }: Request) => ({ ...request, requested: JSON.stringify(requested) });

/** What a second person approves, and above which amount. */
export const requestVerbs = {
  "approval-amount": verb("showApprovalAmount", { description: "above which amount a second person approves" }),
  "set-approval-amount": verb("setApprovalAmount", {
    description: "set above which amount a second person approves; more, or none, needs two owners",
    arguments: ["aboveMicros"],
    examples: ["500", "none"],
  }),
  requests: list("listMoneyRequests", "requests", {
    description: "what waits for a second person",
    examples: ["", "--state refused"],
    options: { state: { text: "in one state only", usual: "waiting" }, after: { value: "id" } },
    columns: {
      AT: "requestedAt",
      BY: ({ requestedBy }) => requestedBy ?? "command line",
      WHAT: ({ requested: { operation } }) => what[operation],
      OF: ({ name, requested }) => name ?? ("month" in requested ? requested.month : ""),
      AMOUNT: ({ amountMicros, currency }) =>
        amountMicros === null ? "no limit" : `${amountOf(amountMicros)} ${currency}`,
      STATE: "state",
      REASON: "reason",
      ID: "requestId",
    },
  }),
  "approve-request": verb("approveMoneyRequest", { description: "approve a request of another person", shown }),
  "refuse-request": verb("refuseMoneyRequest", {
    description: "refuse a request, or withdraw the command line's",
    options: { reason: { text: "for who asked", value: "text" } },
    shown,
  }),
};

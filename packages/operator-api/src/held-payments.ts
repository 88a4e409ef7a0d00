import { z } from "zod";
import { grants } from "./access.ts";
import { after, listLimit, micros, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const heldReasons = ["reference-known", "reported-otherwise"] as const;
export const heldStates = ["open", "credited", "dismissed"] as const;

const heldPayment = z.object({
  heldId: z.string(),
  provider: z.string(),
  paymentId: z.string().describe("The provider's."),
  reason: z
    .enum(heldReasons)
    .describe(
      "`reference-known`: a person has recorded a payment with this reference; `reported-otherwise`: the provider has reported it before with another amount, advertiser or currency.",
    ),
  knownTransactionId: z.string().nullable().describe("What it may be; null: another report that is listed here."),
  advertiserId: z.string(),
  advertiser: z.string().nullable().describe("Null: there is none of this id."),
  amountMicros: micros,
  currency: z.string(),
  reference: z.string().nullable(),
  reportedAt: moment,
  state: z.enum(heldStates),
  decidedAt: moment.nullable(),
});
export type HeldPayment = z.output<typeof heldPayment>;

const params = z.object({ heldId: z.string().regex(/^hld_[0-9A-Za-z]{1,60}$/, "must be an id as the list shows it") });

export const heldPaymentRoutes = {
  listHeldPayments: {
    method: "GET",
    path: "/money/held-payments",
    access: grants.moneyReaders,
    description: "Lists payments that a provider has reported and that credit nothing before a person decides.",
    query: z.object({ state: z.enum(heldStates).optional(), after, limit: listLimit }),
    answer: z.object({ payments: z.array(heldPayment).describe("The latest first."), next }),
  },
  creditHeldPayment: {
    method: "POST",
    path: "/money/held-payments/:heldId/credit",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Credits a held payment: it is another one than the one with its reference.",
    params,
    answer: heldPayment,
    refusals: [409],
  },
  dismissHeldPayment: {
    method: "POST",
    path: "/money/held-payments/:heldId/dismiss",
    access: grants.bookkeepers,
    changes: "advertiser",
    description: "Settles that a held payment credits nothing: it was recorded already, or was corrected by hand.",
    params,
    answer: heldPayment,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;

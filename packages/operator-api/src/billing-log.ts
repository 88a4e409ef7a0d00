import { z } from "zod";
import { grants } from "./access.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/** What the log of billed events has an entry of. */
export const billedKinds = ["view", "click", "interstitial", "task", "refund"] as const;
export type BilledKind = (typeof billedKinds)[number];

const head = z.object({
  origin: z.string().describe("The name of the log and of its key."),
  verifierKey: z.string().describe("The public key, as `verify.mjs` takes it; publish it where advertisers find it."),
  entries: z.int().describe("How many billed events and refunds have an entry."),
  published: z.int().describe("How many of them the newest checkpoint includes."),
  publishedAt: moment.nullable(),
  checkpoint: z.string().nullable().describe("The newest one; null before the first entry."),
});

const ofStatement = z.object({
  advertiser: z.string().max(128).describe("Its id, or its name in any case."),
  number: z
    .string()
    .regex(/^\d{1,15}$/, "must be the number of a statement")
    .transform(Number),
});

export const billingLogRoutes = {
  showLog: {
    method: "GET",
    path: "/billing-log",
    access: "anyone",
    description: "Returns the public key and the newest checkpoint of the log of billed events.",
    answer: head,
  },
  readProof: {
    method: "GET",
    path: "/billing-log/events/:eventId",
    access: grants.moneyReaders,
    description: "Returns the proof that a billed event, or its refund, stands in the log.",
    params: z.object({ eventId: z.string().max(100) }),
    query: z.object({
      refund: z.stringbool().default(false).describe("Of its refund instead of the event itself."),
    }),
    answer: z.string(),
    answerTypes: ["text/plain"],
    isStreamed: true,
  },
  readStatementProof: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements/:number/proof",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns the events of an advertiser's statement, with the proof that they stand in the log.",
    params: ofStatement,
    answer: z.string(),
    answerTypes: ["text/plain"],
    isStreamed: true,
  },
  readSamples: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements/:number/samples",
    access: grants.staff,
    description:
      "Opens views of a statement that its proof has drawn: each with the launch data that Telegram signed, which names the user.",
    params: ofStatement,
    query: z.object({
      size: z.coerce.number().int().min(1).describe("How many entries the log had in the checkpoint of the proof."),
      count: z.coerce.number().int().min(1).max(1000).default(20).describe("How many views are drawn."),
    }),
    answer: z.string(),
    answerTypes: ["text/plain"],
    isStreamed: true,
  },
} as const satisfies OperatorRoutes;

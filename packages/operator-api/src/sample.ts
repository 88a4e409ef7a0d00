import { z } from "zod";
import { grants } from "./access.ts";
import { moment } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const sampleStates = ["adding", "added", "removing"] as const;

const sample = z.object({
  state: z
    .enum(sampleStates)
    .describe("`adding` and `removing` under way, or cut off: then the same request again finishes it."),
  startsAt: moment,
  endsAt: moment,
  bots: z.array(z.object({ botId: z.string(), name: z.string() })),
  advertisers: z.array(z.object({ advertiserId: z.string(), name: z.string() })),
});
export type Sample = z.output<typeof sample>;

const ANSWER_MS = 120_000;

export const sampleRoutes = {
  showSample: {
    method: "GET",
    path: "/sample",
    access: grants.moneyReaders,
    description: "Returns which sample traffic the store has; null: none.",
    answer: z.object({ sample: sample.nullable() }),
  },
  addSample: {
    method: "POST",
    path: "/sample",
    access: grants.staff,
    changes: "sample",
    description: "Adds two weeks of sample traffic, with bots, advertisers and campaigns of its own.",
    status: 201,
    answer: z.object({ sample }),
    refusals: [409],
    answerTimeoutMs: ANSWER_MS,
  },
  removeSample: {
    method: "DELETE",
    path: "/sample",
    access: grants.staff,
    changes: "sample",
    description:
      "Removes the sample traffic with its bots, advertisers and campaigns, and everything that refers to them.",
    answer: z.object({ removed: z.boolean().describe("False: there was none.") }),
    refusals: [409],
    answerTimeoutMs: ANSWER_MS,
  },
} as const satisfies OperatorRoutes;

import { subject, text, verb } from "@intermission/server/route-commands";

export const billingLogCommands = subject("billing-log", "the log of billed events, and proofs of what stands in it", {
  show: verb("showLog", { description: "the public key and the newest checkpoint" }),
  proof: text("readProof", {
    description: "the proof of one event, for verify.mjs",
    options: { refund: "of its refund instead" },
  }),
  statement: text("readStatementProof", {
    description: "the events of an advertiser's statement with their proof, for verify.mjs",
    arguments: ["advertiser", "number"],
    examples: ["'The Shop' 14 > statement-14-proof.json"],
  }),
  samples: text("readSamples", {
    description: "launch data of views that a statement's proof has drawn, for verify.mjs; it names users",
    arguments: ["advertiser", "number", "size"],
    options: {
      size: "the second line of the proof's checkpoint",
      count: "how many are drawn",
    },
    examples: ["'The Shop' 14 20852163 > statement-14-samples.json"],
  }),
});

import { subject, verb } from "@intermission/server/route-commands";

export const billingLogCommands = subject("billing-log", "the log of billed events, and proofs of what stands in it", {
  show: verb("showLog", { description: "the public key and the newest checkpoint" }),
  proof: verb("readProof", {
    description: "the proof of one event, for verify.mjs",
    options: { refund: "of its refund instead" },
    text: (proof) => proof.trimEnd(),
  }),
  statement: verb("readStatementProof", {
    description: "the events of an advertiser's statement with their proof, for verify.mjs",
    arguments: ["advertiser", "number"],
    examples: ["'The Shop' 14 > statement-14-proof.json"],
    text: (proof) => proof.trimEnd(),
  }),
  samples: verb("readSamples", {
    description: "launch data of views that a statement's proof has drawn, for verify.mjs; it names users",
    arguments: ["advertiser", "number", "size"],
    options: {
      size: "the second line of the proof's checkpoint",
      count: "how many are drawn",
    },
    examples: ["'The Shop' 14 20852163 > statement-14-samples.json"],
    text: (samples) => samples.trimEnd(),
  }),
});

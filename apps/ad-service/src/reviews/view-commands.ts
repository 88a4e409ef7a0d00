import { list, subject } from "@intermission/server/route-commands";
import { decisionVerb, filterWords } from "./decision-verb.ts";

const decision = (name: "releaseView" | "refuseView" | "refundView", description: string) =>
  decisionVerb(name, "sessionId", {
    what: "view",
    description,
    examples: ["7000000001-4YR9Tq2LmXw8KcYd3Rt6VbNs5", "--bot-id 7000000001 --suspicion too-even --from 2d"],
  });

export const viewCommands = subject("views", "suspicious views, and what happens to held ones", {
  list: list("listViews", "views", {
    description: "suspicious views, newest first",
    examples: ["--state held", "--bot-id 7000000001 --limit 10 --json"],
    options: { ...filterWords, state: "in one state only" },
    columns: {
      VIEW: "sessionId",
      USER: "userId",
      CAMPAIGN: "campaignId",
      STATE: ({ state, refundedAt }) => (refundedAt === null ? state : `${state}, refunded`),
      "WHAT LOOKS WRONG": "suspicions",
      "CLOSED AT": "closedAt",
    },
  }),
  release: decision("releaseView", "pay a held view: its event is made now"),
  refuse: decision("refuseView", "refuse a held view for good"),
  refund: decision("refundView", "refund the advertiser for a paid view"),
});

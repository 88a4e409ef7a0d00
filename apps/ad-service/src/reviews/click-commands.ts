import { list, subject } from "@intermission/server/route-commands";
import { clickFilterWords, decisionVerb } from "./decision-verb.ts";

const decision = (name: "releaseClick" | "refuseClick" | "refundClick", description: string) =>
  decisionVerb(name, "clickId", {
    what: "click",
    description,
    examples: ["clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70", "--bot-id 7000000001 --suspicion crowded-network --from 2d"],
  });

export const clickCommands = subject("clicks", "suspicious clicks of direct links, and what happens to held ones", {
  list: list("listClicks", "clicks", {
    description: "suspicious clicks, newest first",
    examples: ["--state held", "--bot-id 7000000001 --limit 10 --json"],
    options: { ...clickFilterWords, state: "in one state only" },
    columns: {
      CLICK: "clickId",
      USER: "userId",
      CAMPAIGN: "campaignId",
      STATE: ({ state, refundedAt }) => (refundedAt === null ? state : `${state}, refunded`),
      "WHAT LOOKS WRONG": "suspicions",
      ADDRESS: "address",
      NETWORK: "network",
      AT: "occurredAt",
    },
  }),
  release: decision("releaseClick", "pay a held click: its event is made now"),
  refuse: decision("refuseClick", "refuse a held click for good"),
  refund: decision("refundClick", "refund the advertiser for a counted click"),
});

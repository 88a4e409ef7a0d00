import type { CampaignPhase } from "@intermission/operator-api/campaign-phase";
import { useLanguage } from "../words/word-table.ts";
import { phaseWords } from "./words.ts";

const looks = {
  running: "pill-good",
  planned: "",
  ended: "pill-late",
  spent: "pill-bad",
  unfunded: "pill-bad",
  unapproved: "pill-late",
  stopped: "pill-late",
  draft: "",
  waiting: "pill-late",
  refused: "pill-bad",
  "paused-by-operator": "pill-late",
  "paused-by-advertiser": "pill-late",
  archived: "",
} satisfies Record<CampaignPhase, string>;

export function PhasePill({ phase }: { phase: CampaignPhase }) {
  return <span className={`pill ${looks[phase]}`}>{phaseWords[useLanguage()][phase]}</span>;
}

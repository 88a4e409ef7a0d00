import { useLanguage } from "../words/word-table.ts";
import type { CampaignPhase } from "./pace.ts";
import { phaseWords } from "./words.ts";

const looks = {
  running: "pill-good",
  planned: "",
  ended: "pill-late",
  spent: "pill-bad",
  unfunded: "pill-bad",
  unapproved: "pill-late",
  stopped: "pill-late",
  paused: "pill-late",
  archived: "",
} satisfies Record<CampaignPhase, string>;

export function PhasePill({ phase }: { phase: CampaignPhase }) {
  return <span className={`pill ${looks[phase]}`}>{phaseWords[useLanguage()][phase]}</span>;
}

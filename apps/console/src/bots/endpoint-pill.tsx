import type { ListedEndpoint } from "@intermission/operator-api/endpoints";
import { useLanguage } from "../words/word-table.ts";
import { troubleOf } from "./endpoint-trouble.ts";
import { endpointWords } from "./words.ts";

const looks = {
  active: "pill-good",
  pending: "pill-late",
  disabled: "pill-bad",
  failing: "pill-bad",
  doubtful: "pill-late",
} as const;

/** How the webhooks of a bot fare, in one word. */
export function EndpointPill({ endpoint }: { endpoint: ListedEndpoint | undefined }) {
  const words = endpointWords[useLanguage()];
  if (endpoint === undefined) return null;
  if (endpoint.state === null) return <span className="pill">{words.none}</span>;
  const state = troubleOf(endpoint) ?? "active";
  return <span className={`pill ${looks[state]}`}>{words[state]}</span>;
}

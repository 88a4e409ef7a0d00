import type { ListedEndpoint } from "@intermission/operator-api/endpoints";
import { useLanguage } from "../words/word-table.ts";
import { endpointWords } from "./words.ts";

const looks = { active: "pill-good", pending: "pill-late", disabled: "pill-bad" } as const;

/** How the webhooks of a bot fare, in one word. */
export function EndpointPill({ endpoint }: { endpoint: ListedEndpoint | undefined }) {
  const words = endpointWords[useLanguage()];
  if (endpoint === undefined) return null;
  const { state, breaker } = endpoint;
  if (state === null) return <span className="pill">{words.none}</span>;
  const isFailing = state === "active" && breaker !== null && breaker !== "closed";
  return (
    <span className={`pill ${isFailing ? "pill-bad" : looks[state]}`}>{isFailing ? words.failing : words[state]}</span>
  );
}

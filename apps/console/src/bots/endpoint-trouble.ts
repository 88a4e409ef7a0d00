import type { ListedEndpoint } from "@intermission/operator-api/endpoints";

/** What is wrong with the webhooks of a bot; undefined: nothing, or it has no address. */
export type EndpointTrouble = "disabled" | "failing" | "pending" | "doubtful";

export function troubleOf({
  state,
  breaker,
  warnings,
}: Pick<ListedEndpoint, "state" | "breaker" | "warnings">): EndpointTrouble | undefined {
  if (state === null) return undefined;
  if (state !== "active") return state;
  if (breaker !== "closed" && breaker !== null) return "failing";
  return warnings.length === 0 ? undefined : "doubtful";
}

import type { ListedEndpoint } from "@intermission/operator-api/endpoints";

/** What is wrong with the webhooks of a bot; undefined: nothing, or it has no address. */
export type EndpointTrouble = "disabled" | "failing" | "pending";

export function troubleOf({ state, breaker }: Pick<ListedEndpoint, "state" | "breaker">): EndpointTrouble | undefined {
  if (state === null) return undefined;
  if (state !== "active") return state;
  return breaker === "closed" || breaker === null ? undefined : "failing";
}

/**
 * What the last claim of a node's loop left:
 * - `keeps-up`: nothing that is due.
 * - `endpoint-full`: a due delivery whose endpoint has no capacity, or that another statement has locked.
 * - `node-full`: perhaps more due deliveries than this node has slots for. The state before the first claim.
 */
export type LoopState = "keeps-up" | "endpoint-full" | "node-full";

export const loopStates = {
  // A node that keeps up never claims: the end of an attempt does not wake the loop.
  "keeps-up": { claimsNewEvents: true, wakesOnFreedCapacity: false },
  "endpoint-full": { claimsNewEvents: true, wakesOnFreedCapacity: true },
  // New events are queued behind the others, in order.
  "node-full": { claimsNewEvents: false, wakesOnFreedCapacity: true },
} as const satisfies Record<LoopState, { claimsNewEvents: boolean; wakesOnFreedCapacity: boolean }>;

/** The state after a claim of at most `limit` deliveries. */
export function stateAfterClaim(before: LoopState, { claimed, limit }: { claimed: number; limit: number }): LoopState {
  if (claimed >= limit) return "node-full";
  // Not known to keep up until a claim finds nothing and nothing is due.
  return before === "node-full" ? "endpoint-full" : before;
}

/** The state after a claim found nothing, and the due deliveries were read. */
export function stateAfterEmptyClaim(before: LoopState, { isDueNow }: { isDueNow: boolean }): LoopState {
  if (before === "node-full") return "node-full";
  return isDueNow ? "endpoint-full" : "keeps-up";
}

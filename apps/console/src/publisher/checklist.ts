import type { EndpointState } from "@intermission/ad-core/client-words";
/** What a publisher does to earn with a bot, in its order. */
export const checklistSteps = ["address", "endpoint", "request", "earned", "delivered"] as const;
export type ChecklistStep = (typeof checklistSteps)[number];

interface ChecklistFacts {
  endpointUrl: string | null;
  endpointState: EndpointState | null;
  adRequests: number;
  hasEvent: boolean;
  hasDelivered: boolean;
}

/** Which steps are done. What comes later proves what it needs: an earned event, that an ad was requested. */
export function doneSteps(facts: ChecklistFacts): Record<ChecklistStep, boolean> {
  const { endpointUrl, endpointState, adRequests, hasEvent, hasDelivered } = facts;
  return {
    address: endpointUrl !== null,
    endpoint: endpointState === "active",
    request: adRequests > 0 || hasEvent,
    earned: hasEvent,
    delivered: hasDelivered,
  };
}

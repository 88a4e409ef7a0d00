import type { DeliveryLog } from "./delivery-log.ts";
import type { EndpointChange } from "./finish-deliveries.ts";

const disabledBecause = {
  gone: "it answered nothing but 410 Gone for an hour",
  failing: "it took nothing for five days",
  operator: "an operator said so",
};

/** What an operator has to know of an endpoint, at the level that it deserves. */
export function logEndpointChange(log: DeliveryLog, change: EndpointChange): void {
  const { botId, breaker, endpointState, disabledReason, warnedPercent } = change;
  if (endpointState === "disabled" && disabledReason !== null) {
    const message = `an endpoint was disabled: ${disabledBecause[disabledReason]}; its events are held, enable it with: endpoints enable ${botId}`;
    log.error({ botId, disabledReason }, message);
  } else if (warnedPercent !== null) {
    log.warn({ botId, warnedPercent }, `an endpoint is ${warnedPercent} % of the way to being disabled`);
  }
  if (breaker === "open")
    log.warn({ botId }, "an endpoint fails: its breaker is open, and one delivery at a time probes");
  if (breaker === "closed") log.info({ botId }, "an endpoint is back: its breaker is closed");
}

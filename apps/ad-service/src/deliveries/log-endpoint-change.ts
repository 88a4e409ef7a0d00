import type { DeliveryLog } from "./delivery-log.ts";
import type { EndpointChange } from "./finish-deliveries.ts";

const disabledBecause = {
  gone: "it answered only 410 Gone for an hour",
  failing: "it accepted nothing for five days",
  operator: "an operator disabled it",
};

/** Logs the changes of an endpoint that an operator must know, each at its log level. */
export function logEndpointChange(log: DeliveryLog, change: EndpointChange): void {
  const { botId, breaker, endpointState, disabledReason, warnedPercent } = change;
  if (endpointState === "disabled" && disabledReason !== null) {
    const message = `an endpoint was disabled: ${disabledBecause[disabledReason]}; its events are held, enable it with: endpoints enable ${botId}`;
    log.error({ botId, disabledReason }, message);
  } else if (warnedPercent !== null) {
    log.warn({ botId, warnedPercent }, `an endpoint's progress towards being disabled is ${warnedPercent} %`);
  }
  if (breaker === "open")
    log.warn({ botId }, "an endpoint is failing: its breaker is open, and one delivery at a time probes it");
  if (breaker === "closed") log.info({ botId }, "an endpoint has recovered: its breaker is closed");
}

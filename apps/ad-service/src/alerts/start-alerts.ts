import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { makeAlerts } from "./make-alerts.ts";
import { type SendAlerts, sendAlerts } from "./send-alerts.ts";

const SEND_EVERY_MS = 5000;
const LOOK_EVERY_MS = 120_000;
/** What is due changes with a month's end and with payouts. */
const PAYOUTS_EVERY_MS = 3_600_000;

/** Makes alerts from conditions, and sends their messages, until it is stopped. Any number of nodes may run it. */
export function startAlerts(
  deps: Omit<SendAlerts, "log"> & { currency: string; log: Pick<FastifyBaseLogger, "warn" | "error"> },
): BackgroundLoop {
  const { database, currency, now, log } = deps;
  const next = { lookAt: 0, payoutsAt: 0 };
  return startLoop({
    everyMs: SEND_EVERY_MS,
    async round() {
      // First: messages go out although a condition cannot be read, which waits for its next turn.
      const { hasMore } = await sendAlerts(deps);
      const at = now().getTime();
      if (at >= next.lookAt) {
        const withPayouts = at >= next.payoutsAt;
        next.lookAt = at + LOOK_EVERY_MS;
        if (withPayouts) next.payoutsAt = at + PAYOUTS_EVERY_MS;
        await makeAlerts(database, { now: now(), currency, withPayouts });
      }
      return hasMore ? 0 : undefined;
    },
    onFault: (error) => log.error({ err: error }, "what people should know could not be looked at; trying again"),
  });
}

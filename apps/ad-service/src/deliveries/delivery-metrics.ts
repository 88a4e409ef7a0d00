import { durationHistogram, statusClass } from "@intermission/server/metrics";
import { Counter, Gauge, type Registry } from "prom-client";
import type { AdDatabase } from "../ad-database.ts";
import type { FinishedAttempt } from "./finish-deliveries.ts";
import { rarelyRead } from "./rarely-read.ts";
import { type DeliveryFigures, readDeliveryFigures } from "./read-delivery-figures.ts";

export interface DeliveryMetrics {
  /** Counts one attempt that was made by this node. */
  attemptFinished(
    attempt: Pick<FinishedAttempt, "isSuccess" | "status" | "errorClass" | "firstByteMs" | "totalMs">,
  ): void;
}

const upToSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Exported as 0 from the start, so that the first failure of a class is an increase. */
const attemptClasses = [
  ...["delivered", "4xx", "5xx", "dns", "refused", "reset", "tls", "timeout-connect", "timeout-total"],
  ...["blocked-address", "redirect", "protocol", "too-large", "unknown"],
];

/**
 * Delivery metrics. Attempts and durations are this node's. The gauges report the state of all nodes from the database:
 * aggregate them over nodes by maximum, not by sum.
 */
export function deliveryMetrics(
  registry: Registry,
  { database, log }: { database: AdDatabase; log: { warn(facts: object, message: string): void } },
): DeliveryMetrics {
  const read = rarelyRead(() => readDeliveryFigures(database));
  /** A failed query must not fail the rest of the scrape. Without figures the series is absent rather than wrong. */
  const figures = () =>
    read().catch((error: unknown) => {
      log.warn({ err: error }, "the figures of delivery could not be read");
      return undefined;
    });
  for (const { name, help, label, of } of gauges) {
    new Gauge({
      ...{ name, help, labelNames: [label], registers: [registry] },
      async collect() {
        const now = await figures();
        this.reset();
        for (const [value, figure] of now ? of(now) : []) this.set({ [label]: value }, figure);
      },
    });
  }
  const attempts = new Counter({
    name: "intermission_delivery_attempts_total",
    help: "Attempts to deliver a webhook, by outcome.",
    labelNames: ["class"],
    registers: [registry],
  });
  for (const name of attemptClasses) attempts.inc({ class: name }, 0);
  const totalTook = durationHistogram(registry, {
    name: "intermission_delivery_duration_seconds",
    help: "Attempts to deliver, from their start to the end of the answer or the failure.",
    upToSeconds,
  })();
  const firstByteTook = durationHistogram(registry, {
    name: "intermission_delivery_first_byte_seconds",
    help: "Attempts to deliver, from their start to the headers of the answer, where one came.",
    upToSeconds,
  })();
  return {
    attemptFinished(attempt) {
      attempts.inc({ class: classOf(attempt) });
      if (attempt.totalMs !== null) totalTook(attempt.totalMs / 1000);
      if (attempt.firstByteMs !== null) firstByteTook(attempt.firstByteMs / 1000);
    },
  };
}

function classOf({ isSuccess, status, errorClass }: Pick<FinishedAttempt, "isSuccess" | "status" | "errorClass">) {
  if (isSuccess) return "delivered";
  return errorClass ?? (status === null ? "unknown" : statusClass(status));
}

const gauges: readonly {
  name: string;
  help: string;
  label: string;
  of: (figures: DeliveryFigures) => [value: string, figure: number][];
}[] = [
  {
    name: "intermission_deliveries",
    help: "Undelivered deliveries by state; failed and unknown ones of the last 30 days' events.",
    label: "state",
    of: ({ waiting, sending, held, failed, unknown }) => Object.entries({ waiting, sending, held, failed, unknown }),
  },
  {
    name: "intermission_oldest_due_delivery_seconds",
    help: "How long the oldest due delivery has waited: at an endpoint that is ready, and at one that rests or fails.",
    label: "endpoint",
    of: (figures) => [
      ["ready", figures.oldestReadySeconds],
      ["resting", figures.oldestRestingSeconds],
    ],
  },
  {
    name: "intermission_endpoints",
    help: "Endpoints by state.",
    label: "state",
    of: ({ pending, active, disabled }) => Object.entries({ pending, active, disabled }),
  },
  {
    name: "intermission_endpoint_breakers",
    help: "Endpoints by the state of their breaker.",
    label: "state",
    of: ({ closed, open, halfOpen }) => Object.entries({ closed, open, "half-open": halfOpen }),
  },
  {
    name: "intermission_endpoint_disable_progress",
    help: "Progress of the worst active endpoint towards being disabled, from 0 to 1.",
    label: "endpoint",
    of: ({ worstProgress }) => [["worst", worstProgress]],
  },
  {
    name: "intermission_endpoints_near_disabling",
    help: "Active endpoints with at least this progress towards being disabled.",
    label: "progress",
    of: (figures) => [
      ["0.5", figures.atHalf],
      ["0.7", figures.atSeventyPercent],
      ["0.9", figures.atNinetyPercent],
    ],
  },
];

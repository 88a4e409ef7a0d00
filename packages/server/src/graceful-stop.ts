import type { Logger } from "./logger.ts";
import { notifySystemd } from "./notify-systemd.ts";

interface StopOptions {
  readonly logger: Logger;
  /** How long `stop` may take. */
  readonly timeoutMs?: number | undefined;
  /** Set after the first signal; from then on `/readyz` should answer 503. */
  readonly draining?: Draining | undefined;
  /** How long to keep serving after the signal, so that load balancers see `/readyz` fail and use other nodes. */
  readonly drainMs?: number | undefined;
}

/** Whether this process has got a signal to stop and perhaps still serves requests. */
interface Draining {
  hasBegun: boolean;
}

/**
 * Runs `stop` once on SIGTERM, SIGINT or SIGHUP, after `drainMs`, and exits with 0. Exits with 1 when `stop` fails or takes longer
 * than `timeoutMs`, and on a signal more than a second after the first (one Ctrl-C may arrive twice: from the terminal and
 * from a parent process).
 */
export function onStopSignal(
  { logger, timeoutMs = 10_000, draining, drainMs = 0 }: StopOptions,
  stop: () => Promise<void>,
): void {
  let stoppingSince: number | undefined;
  const begin = async (): Promise<void> => {
    setTimeout(() => {
      logger.error({ timeoutMs }, "stopping took too long");
      process.exit(1);
    }, timeoutMs);
    try {
      await stop();
    } catch (error) {
      logger.error({ err: error }, "stopping failed");
      process.exit(1);
    }
    process.exit(0);
  };
  const heard = (signal: NodeJS.Signals) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > 1000) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    logger.info({ signal, drainMs }, "stopping");
    if (draining) draining.hasBegun = true;
    if (drainMs > 0) setTimeout(begin, drainMs);
    else void begin();
  };
  // SIGHUP: the terminal or the connection over which it was started is gone.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, heard);
}

/**
 * Says that this server serves. Logged at any LOG_LEVEL: a supervisor waits for this line, systemd for its message. `schema` is the
 * newest migration, so that a log tells what runs.
 */
export function logListening(
  logger: Logger,
  facts: {
    readonly version?: string;
    readonly schema?: string | undefined;
    readonly store?: string;
    readonly url: string;
  },
): void {
  logger.child({}, { level: "info" }).info(facts, "listening");
  notifySystemd({ logger });
}

/** For a store that has ended: work in progress cannot finish without it. A supervisor restarts this program. */
export function exitAfterStore(fault: Error, logger: Logger): never {
  logger.child({}, { level: "fatal" }).fatal({ reason: fault.message }, `the store has ended: ${fault.message}`);
  process.exit(1);
}

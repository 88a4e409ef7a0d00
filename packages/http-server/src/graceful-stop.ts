import type { Logger } from "./logger.ts";

export interface StopOptions {
  readonly logger: Logger;
  /** How long `stop` may take. */
  readonly timeoutMs?: number | undefined;
  /** Called with the first signal, before anything else: from now on `/readyz` should say no. */
  readonly onSignal?: (() => void) | undefined;
  /** How long everything is served on after the signal, so that load balancers see `/readyz` and send elsewhere. */
  readonly drainMs?: number | undefined;
}

/**
 * Runs `stop` once on SIGTERM or SIGINT, after `drainMs`, and leaves with 0. Leaves with 1 when it fails, takes longer than
 * `timeoutMs`, or when somebody asks again after a second (a Ctrl-C may arrive twice, from the terminal and from a parent).
 */
export function onStopSignal(
  stop: () => Promise<void>,
  { logger, timeoutMs = 10_000, onSignal = () => {}, drainMs = 0 }: StopOptions,
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
    onSignal();
    if (drainMs > 0) setTimeout(begin, drainMs);
    else void begin();
  };
  process.on("SIGTERM", heard);
  process.on("SIGINT", heard);
}

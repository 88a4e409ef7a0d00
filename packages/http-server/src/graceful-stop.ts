import type { Logger } from "./logger.ts";

/**
 * Runs `stop` once on SIGTERM or SIGINT and leaves with 0. Leaves with 1 when it fails, takes longer than `timeoutMs`, or
 * when somebody asks again after a second (a Ctrl-C may arrive twice, from the terminal and from a parent).
 */
export function onStopSignal(
  stop: () => Promise<void>,
  { logger, timeoutMs = 10_000 }: { readonly logger: Logger; readonly timeoutMs?: number },
): void {
  let stoppingSince: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince !== undefined) {
      if (Date.now() - stoppingSince > 1000) process.exit(1);
      return;
    }
    stoppingSince = Date.now();
    logger.info({ signal }, "stopping");
    setTimeout(() => {
      logger.error({ timeoutMs }, "stopping took too long");
      process.exit(1);
    }, timeoutMs);
    stop().then(
      () => process.exit(0),
      (error) => {
        logger.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

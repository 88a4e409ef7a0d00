/**
 * Loaded into a server by `--import`, so that the bench can move its clock and a view of 30 s takes almost no time. Only
 * `Date` is moved, and the server's clock is `Date` instead of the database's; timers keep running. A line `<milliseconds>` to the socket at BENCH_CLOCK_SOCKET stops the clock at that
 * time until the next line. The answer is sent after the clock has moved.
 */
import { registerHooks } from "node:module";
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

const RealDate = Date;
let stoppedAt: number | undefined;
const now = () => stoppedAt ?? RealDate.now();

class MovableDate extends RealDate {
  constructor(...dateArguments: unknown[]) {
    if (dateArguments.length === 0) super(now());
    else super(...(dateArguments as [number]));
  }
  static override now(): number {
    return now();
  }
}

/** The database's clock cannot be moved. */
const clockOfDate = `
  export const followDatabaseClock = async () => ({ now: () => new Date(), offsetMs: () => 0, stop() {} });
  export const clockWarning = () => undefined;
`;

const path = process.env.BENCH_CLOCK_SOCKET;
// Only in the server itself: child processes inherit its environment, and workers its preloads.
if (path !== undefined && isMainThread) {
  delete process.env.BENCH_CLOCK_SOCKET;
  Object.assign(globalThis, { Date: MovableDate });
  registerHooks({
    load: (url, context, next) =>
      url.endsWith("/packages/postgres/src/database-clock.ts")
        ? { format: "module", shortCircuit: true, source: clockOfDate }
        : next(url, context),
  });
  const server = createServer((socket) => {
    socket.unref();
    socket.on("data", (line) => {
      stoppedAt = Number(line.toString());
      socket.end("moved\n");
    });
  });
  server.listen(path);
  server.unref();
}

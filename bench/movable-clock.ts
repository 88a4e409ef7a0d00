/**
 * Loaded into a server by `--import`, so that the bench can move its clock: a view of 30 s takes a moment. Only `Date` is
 * moved; timers run on. A line `<milliseconds>` to the socket at BENCH_CLOCK_SOCKET stops the clock at that moment until
 * the next line. The answer comes when it holds.
 */
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

const RealDate = Date;
let stoppedAt: number | undefined;
const now = () => stoppedAt ?? RealDate.now();

class MovableDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now());
    else super(...(given as [number]));
  }
  static override now(): number {
    return now();
  }
}

const path = process.env.BENCH_CLOCK_SOCKET;
// A process that the server starts has the same environment, and a worker the same preloads.
if (path !== undefined && isMainThread) {
  delete process.env.BENCH_CLOCK_SOCKET;
  Object.assign(globalThis, { Date: MovableDate });
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

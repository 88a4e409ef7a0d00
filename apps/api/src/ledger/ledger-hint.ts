import { randomUUID } from "node:crypto";
import type { Database } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";

/**
 * Wakes callers that wait for entries, on this node and on the others. It is only a hint: polling on a timer finds
 * every entry.
 */
export interface LedgerHint {
  /** Something was committed. */
  announce(): void;
  /** Resolves with true at the next announcement of any node; with false after `milliseconds`, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean>;
  stop(): Promise<void>;
}

/** Each node announces at most twenty times a second. */
const apartMs = 50;
const channel = "recorded";

/** Notices are sent after the commit and outside of it: inside, PostgreSQL would serialise commits. */
export async function ledgerHint(
  database: Pick<Database<unknown>, "listen" | "notify">,
  logger: Pick<Logger, "debug">,
): Promise<LedgerHint> {
  const node = randomUUID();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of [...waiting]) each();
  };
  const unlisten = await database.listen(channel, (from) => {
    if (from !== node) wake();
  });
  const announce = atMostOnceIn(apartMs, async () => {
    wake();
    await database.notify(channel, node).catch((error: unknown) => logger.debug({ err: error }, "no notice was sent"));
  });

  return {
    announce: announce.now,
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const end = (isHinted: boolean) => {
          clearTimeout(timer);
          waiting.delete(onHint);
          signal.removeEventListener("abort", onAbort);
          resolve(isHinted);
        };
        const onHint = () => end(true);
        const onAbort = () => end(false);
        const timer = setTimeout(onAbort, milliseconds);
        waiting.add(onHint);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
      }),
    async stop() {
      await announce.stop();
      await unlisten();
    },
  };
}

/** Acts immediately, and once more afterwards for all calls in the meantime. */
function atMostOnceIn(milliseconds: number, act: () => Promise<void>) {
  let resting: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  let endRest = () => {};

  async function actUntilNobodyAsks(): Promise<void> {
    while (isWanted && !isStopped) {
      isWanted = false;
      await act();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        endRest = () => {
          clearTimeout(timer);
          resolve();
        };
        if (isStopped) endRest();
      });
    }
    resting = undefined;
  }

  return {
    now() {
      isWanted = true;
      if (!isStopped) resting ??= actUntilNobodyAsks();
    },
    async stop() {
      isStopped = true;
      endRest();
      await resting;
    },
  };
}

/** Waits; rejects at once with the reason of an aborted signal. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Rejects if `work`, named by `what`, is not done in time. It is not ended: nothing can. */
export async function inTime(work: void | Promise<void>, milliseconds: number, what: string): Promise<void> {
  const ended = new AbortController();
  const late = pause(milliseconds, ended.signal).then(() => {
    throw new LateError(`${what} is not done after ${milliseconds} ms`);
  });
  await Promise.race([work, late]).finally(() => ended.abort());
}

export class LateError extends Error {}

import type { Dispatcher } from "undici";
import { OutgoingFailure } from "./outgoing-failure.ts";

const MOST_READ_BYTES = 16 * 1024;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** At most 16 KiB, as they came: nothing is inflated. */
  body: Buffer;
  firstByteAt: number;
}

/**
 * One request on a pool. Resolves when the answer has ended, broke off after its headers, or grew beyond 16 KiB: the
 * headers decide, the body is only for the log. Rejects when no final headers came. `signal` ends it at any stage;
 * `onConnected` is called when a connection stands and the request is about to be written.
 */
export function exchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let controller: Dispatcher.DispatchController | undefined;
  let answer: Omit<Answer, "body"> | undefined;
  let isSettled = false;
  const chunks: Buffer[] = [];
  let length = 0;

  const settle = (error?: Error) => {
    if (isSettled) return;
    isSettled = true;
    signal.removeEventListener("abort", onAbort);
    if (answer) resolve({ ...answer, body: Buffer.concat(chunks) });
    else reject(error ?? new OutgoingFailure("protocol", "the answer ended before its headers"));
  };
  const give = (error: Error) => {
    settle(error);
    // Closes the connection, too. A request that still waits for one is ended in onRequestStart, before it is written.
    controller?.abort(error);
  };
  const onAbort = () => give(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
  signal.addEventListener("abort", onAbort);

  pool.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (isSettled) started.abort(new Error("the request was given up before a connection stood"));
      else onConnected();
    },
    onRequestUpgrade(_controller, status, _headers, socket) {
      socket.destroy();
      give(new OutgoingFailure("protocol", `status ${status} to a request that asked for no other protocol`));
    },
    onResponseStart(_controller, status, headers) {
      if (status === 101 || status > 599) return give(new OutgoingFailure("protocol", `status ${status}`));
      if (status < 200) return;
      answer = { status, headers, firstByteAt: performance.now() };
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk.subarray(0, MOST_READ_BYTES - length));
      length += chunk.length;
      if (length >= MOST_READ_BYTES) give(new Error("enough was read"));
    },
    onResponseEnd: () => settle(),
    onResponseError: (_controller, error) => settle(error),
  });
  if (signal.aborted) onAbort();
  return promise;
}

import { OutgoingFailure } from "./outgoing-failure.ts";

const CONNECT_TIMEOUT_MS = 5000;
const TOTAL_TIMEOUT_MS = 15_000;

export interface Deadline {
  /** Aborts with an OutgoingFailure, or with the reason of the caller's signal. */
  readonly signal: AbortSignal;
  /** A connection stands: from now on only the total counts. */
  connected(): void;
  clear(): void;
}

/** One clock over name, TCP, TLS, request and answer, and a shorter one until a connection stands. */
export function startDeadline(limits: {
  connectTimeoutMs?: number;
  totalTimeoutMs?: number;
  signal?: AbortSignal;
}): Deadline {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, totalTimeoutMs = TOTAL_TIMEOUT_MS } = limits;
  const controller = new AbortController();
  const endWith = (errorClass: "timeout-connect" | "timeout-total", milliseconds: number) => {
    const end = () => controller.abort(new OutgoingFailure(errorClass, `nothing within ${milliseconds} ms`));
    return setTimeout(end, milliseconds);
  };
  const connectTimer = endWith("timeout-connect", connectTimeoutMs);
  const totalTimer = endWith("timeout-total", totalTimeoutMs);
  return {
    signal: limits.signal ? AbortSignal.any([controller.signal, limits.signal]) : controller.signal,
    connected: () => clearTimeout(connectTimer),
    clear() {
      clearTimeout(connectTimer);
      clearTimeout(totalTimer);
    },
  };
}

/** The work's result, or the signal's reason if that comes first; the work goes on unheard. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

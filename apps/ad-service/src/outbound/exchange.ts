import type { Writable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { errorClassOf, OutgoingFailure, type OutgoingRequest, type Timings } from "./outgoing-request.ts";

const CONNECT_TIMEOUT_MS = 5000;
const TOTAL_TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 16 * 1024;
/** Of any kind: chunk extensions have no other limit. */
const MAX_READ_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

export interface AnswerHead {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

/**
 * One request, from name resolution to the end of the answer. After the final headers, a body that breaks off or exceeds
 * 16 KiB still counts as an answer; without final headers the exchange is a failure.
 *
 * Thousands run each second, so the exchange is itself undici's handler: one object, no closures.
 */
export class Exchange implements Watched, Dispatcher.DispatchHandler {
  readonly startedAt = performance.now();
  readonly signal: AbortSignal | undefined;
  readonly timings: Timings = { dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: 0 };
  address: string | undefined;
  /** At least one byte of the request may have been sent. */
  wasSent = false;
  /** The last send has begun: at least one byte of it may have been sent. */
  hasBegun = false;
  isOver = false;
  /** Every byte of the answer was read: the connection may carry another exchange. */
  isClean = false;
  answer: AnswerHead | undefined;
  /** Why there is no answer. */
  failure: unknown;
  /** Changes from the connect limit to the longer total limit once a connection is open. */
  #dueAt: number;
  readonly #connectTimeoutMs: number;
  readonly #totalTimeoutMs: number;
  #connection: Connection | undefined;
  #bytesBefore = 0;
  #firstChunk: Buffer = NOTHING;
  #chunks: Buffer[] | undefined;
  #length = 0;
  readonly #maxBodyBytes: number;
  readonly #maxReadBytes: number;
  /** Receives the body of a 200 only: other bodies are for the log. */
  readonly #bodyTo: Writable | undefined;
  readonly #maxPouredBytes: number;
  #onOver: (() => void) | undefined;

  constructor(request: OutgoingRequest) {
    const { signal, connectTimeoutMs = CONNECT_TIMEOUT_MS, totalTimeoutMs = TOTAL_TIMEOUT_MS } = request;
    this.signal = signal;
    const { bodyTo, maxBodyBytes = MAX_BODY_BYTES } = request;
    this.#bodyTo = bodyTo;
    this.#maxBodyBytes = bodyTo ? MAX_BODY_BYTES : maxBodyBytes;
    this.#maxPouredBytes = bodyTo ? maxBodyBytes : 0;
    this.#maxReadBytes = MAX_READ_BYTES + this.#maxPouredBytes;
    this.#connectTimeoutMs = Math.min(connectTimeoutMs, totalTimeoutMs);
    this.#totalTimeoutMs = totalTimeoutMs;
    this.#dueAt = this.startedAt + this.#connectTimeoutMs;
  }

  /** Call before connecting to the next address: it may use an equal part of the connect time that is left. */
  shareConnectTime(addressesLeft: number): void {
    // Once a send has begun, the total limit applies.
    if (this.wasSent) return;
    const endsAt = this.startedAt + this.#connectTimeoutMs;
    const now = performance.now();
    this.#dueAt = now + (endsAt - now) / addressesLeft;
  }

  /** Resolves when it is over. Only one caller may wait at a time. */
  over(): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onOver = resolve;
    });
  }

  /**
   * Starts sending the request; `isOver` and `over` report the end. A second send on the same address keeps the deadline of
   * the first.
   */
  sendOn(connection: Connection, request: Dispatcher.DispatchOptions): void {
    this.isOver = false;
    this.failure = undefined;
    this.hasBegun = false;
    this.#connection = connection;
    connection.client.dispatch(request, this);
  }

  /** The other side closed a kept connection during the write, which shows nothing about the request (RFC 9112, 9.3.1). */
  get brokeOnKeptConnection(): boolean {
    return errorClassOf(this.failure) === "reset" && this.#connection?.wasReusedInVain === true;
  }

  /** The raw bytes, at most as many as requested: nothing is decompressed. */
  body(): Buffer {
    return this.#chunks ? Buffer.concat(this.#chunks) : this.#firstChunk;
  }

  check(now: number): void {
    if (this.wasSent && (this.#connection?.bytesRead() ?? 0) - this.#bytesBefore > this.#maxReadBytes) {
      this.giveUp(new OutgoingFailure("too-large", "the answer exceeds the limit of bytes"));
    } else if (now >= this.#dueAt) {
      const errorClass = this.wasSent ? "timeout-total" : "timeout-connect";
      const milliseconds = this.wasSent ? this.#totalTimeoutMs : this.#connectTimeoutMs;
      this.giveUp(new OutgoingFailure(errorClass, `nothing within ${milliseconds} ms`));
    }
  }

  giveUp(reason: unknown): void {
    if (this.isOver) return;
    this.failure = reason;
    this.#end();
  }

  onRequestStart(): void {
    this.wasSent = true;
    this.hasBegun = true;
    this.#connection?.beginRequest();
    this.#dueAt = this.startedAt + this.#totalTimeoutMs;
    this.#takePhases();
    this.#bytesBefore = this.#connection?.bytesRead() ?? 0;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHead["headers"]): void {
    if (status === 101 || status > 599) this.giveUp(new OutgoingFailure("protocol", `status ${status}`));
    if (this.isOver || status < 200) return;
    this.answer = { status, headers };
    this.timings.firstByteMs = performance.now() - this.startedAt;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    if (this.#bodyTo && this.answer?.status === 200) {
      this.#pour(this.#bodyTo, controller, chunk);
      return;
    }
    const kept = chunk.subarray(0, this.#maxBodyBytes - this.#length);
    this.#length += kept.length;
    if (this.#length === kept.length) this.#firstChunk = kept;
    else {
      this.#chunks ??= [this.#firstChunk];
      this.#chunks.push(kept);
    }
    if (this.#length >= this.#maxBodyBytes) this.#end();
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.isClean = true;
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.giveUp(error);
  }

  /** Writes with backpressure. A destroyed stream ends the exchange. */
  #pour(bodyTo: Writable, controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (bodyTo.destroyed || this.#length > this.#maxPouredBytes) {
      this.#end();
      return;
    }
    if (bodyTo.write(chunk)) return;
    controller.pause();
    const goOn = () => {
      bodyTo.off("drain", goOn).off("close", goOn);
      controller.resume();
    };
    bodyTo.once("drain", goOn).once("close", goOn);
  }

  #end(): void {
    this.isOver = true;
    if (!this.hasBegun) this.#takePhases();
    this.timings.totalMs = performance.now() - this.startedAt;
    this.#onOver?.();
  }

  #takePhases(): void {
    if (!this.#connection) return;
    const { tcpMs, tlsMs } = this.#connection.takePhases();
    this.timings.tcpMs = tcpMs;
    this.timings.tlsMs = tlsMs;
  }
}

/** How late an exchange may be ended. One coarse timer for all costs less than two timers for each. */
const TICK_MS = 25;

interface Watched {
  readonly signal: AbortSignal | undefined;
  /** Ends itself if it is late or too large. Called at each tick with `performance.now()` until it is removed. */
  check(now: number): void;
  /** Called when its signal aborts. */
  giveUp(reason: unknown): void;
}

interface DeadlineWatch {
  add(watched: Watched): void;
  remove(watched: Watched): void;
}

/** Ends exchanges that are late, too large or aborted. The timer runs only while an exchange is in progress. */
export function watchDeadlines(): DeadlineWatch {
  const underWay = new Set<Watched>();
  const followed = new WeakSet<AbortSignal>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const now = performance.now();
    for (const watched of underWay) watched.check(now);
    if (underWay.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  // One listener for each signal, not for each request: callers pass the same signal to hundreds of concurrent requests.
  function follow(signal: AbortSignal): void {
    followed.add(signal);
    const giveUp = () => {
      for (const watched of underWay) if (watched.signal === signal) watched.giveUp(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
  }

  return {
    add(watched) {
      underWay.add(watched);
      timer ??= setInterval(tick, TICK_MS);
      if (watched.signal && !followed.has(watched.signal)) follow(watched.signal);
    },
    remove: (watched) => void underWay.delete(watched),
  };
}

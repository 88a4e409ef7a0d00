import type { Writable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { errorClassOf, OutgoingFailure } from "./outgoing-failure.ts";
import type { OutgoingRequest, Timings } from "./outgoing-request.ts";
import type { Watched } from "./watch-deadlines.ts";

const CONNECT_TIMEOUT_MS = 5000;
const TOTAL_TIMEOUT_MS = 15_000;
const MOST_BODY_BYTES = 16 * 1024;
/** Whatever the bytes are: chunk extensions and interim answers have no other end. */
const MOST_READ_BYTES = 1024 * 1024;
/** Each costs microseconds, and two thousand fit into one read: without a limit one endpoint could stop all others. */
const MOST_INTERIM_ANSWERS = 100;

const NOTHING = Buffer.alloc(0);

export interface AnswerHead {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

/**
 * One request from its name to the end of its answer. The final headers decide: once they came, what breaks off or grows
 * beyond 16 KiB is an answer all the same, and without them it is a failure.
 *
 * Thousands run each second, so it is undici's handler itself: one object, no closures.
 */
export class Exchange implements Watched, Dispatcher.DispatchHandler {
  readonly startedAt = performance.now();
  readonly signal: AbortSignal | undefined;
  readonly timings: Timings = { dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: null, totalMs: 0 };
  address: string | undefined;
  /** At least a byte of it may have left. */
  wasSent = false;
  /** Of the sending under way. */
  #isStarted = false;
  isOver = false;
  /** Every byte of the answer was read: the connection may carry another exchange. */
  isClean = false;
  answer: AnswerHead | undefined;
  /** Why there is no answer. */
  failure: unknown;
  /** Moves from the shorter limit to the longer one when a connection stands. */
  #dueAt: number;
  readonly #connectTimeoutMs: number;
  readonly #totalTimeoutMs: number;
  #connection: Connection | undefined;
  #bytesBefore = 0;
  #interimAnswers = 0;
  #firstChunk: Buffer = NOTHING;
  #chunks: Buffer[] | undefined;
  #length = 0;
  readonly #mostBodyBytes: number;
  readonly #mostReadBytes: number;
  /** Of a 200 only: whatever else is answered is for the log. */
  readonly #bodyTo: Writable | undefined;
  readonly #mostPouredBytes: number;
  #onOver: (() => void) | undefined;

  constructor(request: OutgoingRequest) {
    const { signal, connectTimeoutMs = CONNECT_TIMEOUT_MS, totalTimeoutMs = TOTAL_TIMEOUT_MS } = request;
    this.signal = signal;
    const { bodyTo, mostBodyBytes = MOST_BODY_BYTES } = request;
    this.#bodyTo = bodyTo;
    this.#mostBodyBytes = bodyTo ? MOST_BODY_BYTES : mostBodyBytes;
    this.#mostPouredBytes = bodyTo ? mostBodyBytes : 0;
    this.#mostReadBytes = MOST_READ_BYTES + this.#mostPouredBytes;
    this.#connectTimeoutMs = Math.min(connectTimeoutMs, totalTimeoutMs);
    this.#totalTimeoutMs = totalTimeoutMs;
    this.#dueAt = this.startedAt + this.#connectTimeoutMs;
  }

  /** Resolves when it is over; an exchange is awaited once at a time. */
  over(): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onOver = resolve;
    });
  }

  /** Sends the request; over it is only later, as `isOver` and `over` tell. Its deadline is that of the first sending. */
  sendOn(connection: Connection, request: Dispatcher.DispatchOptions): void {
    this.isOver = false;
    this.failure = undefined;
    this.#isStarted = false;
    this.#connection = connection;
    connection.client.dispatch(request, this);
  }

  /** The other side closed a kept connection as the request was written on it: it says nothing of the request (RFC 9112, 9.3.1). */
  get brokeOnKeptConnection(): boolean {
    return errorClassOf(this.failure) === "reset" && this.#connection?.wasReusedInVain === true;
  }

  /** At most as many bytes as were asked for, as they came: nothing is inflated. */
  body(): Buffer {
    return this.#chunks ? Buffer.concat(this.#chunks) : this.#firstChunk;
  }

  check(now: number): void {
    if (this.wasSent && (this.#connection?.bytesRead() ?? 0) - this.#bytesBefore > this.#mostReadBytes) {
      this.giveUp(new OutgoingFailure("too-large", "the answer does not end"));
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
    this.#isStarted = true;
    this.#connection?.beginRequest();
    this.#dueAt = this.startedAt + this.#totalTimeoutMs;
    this.#takePhases();
    this.#bytesBefore = this.#connection?.bytesRead() ?? 0;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHead["headers"]): void {
    if (status < 200 && ++this.#interimAnswers > MOST_INTERIM_ANSWERS)
      this.giveUp(new OutgoingFailure("too-large", "interim answers do not end"));
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
    const kept = chunk.subarray(0, this.#mostBodyBytes - this.#length);
    this.#length += kept.length;
    if (this.#length === kept.length) this.#firstChunk = kept;
    else {
      this.#chunks ??= [this.#firstChunk];
      this.#chunks.push(kept);
    }
    if (this.#length >= this.#mostBodyBytes) this.#end();
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.isClean = true;
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.giveUp(error);
  }

  /** No faster than it is taken. Who closed it wants no more. */
  #pour(bodyTo: Writable, controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (bodyTo.destroyed || this.#length > this.#mostPouredBytes) {
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
    if (!this.#isStarted) this.#takePhases();
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

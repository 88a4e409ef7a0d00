import type { Writable } from "node:stream";
import type { ErrorClass } from "./outgoing-failure.ts";

/** Each purpose has its own allowed networks: what is open to webhooks is closed to everything else. */
export type Purpose = "webhook" | "vast" | "video";

export interface OutgoingRequest {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string | Uint8Array;
  purpose: Purpose;
  /**
   * `kept`, the default: one that is open already where there is one. The other side may just be closing it; a request that
   * broke on it before a byte came back is sent once more at once, on a new one, so this is for requests that may arrive
   * twice. `fresh`: a new one, used once; the request is sent once.
   */
  connection?: "kept" | "fresh";
  /** Fewer bytes than this are given back whole, as `body`; without it at most 16 KiB are read. */
  mostBodyBytes?: number;
  /** The body of a 200 goes there as it comes, `mostBodyBytes` at most, and not into memory. It is not ended. */
  bodyTo?: Writable;
  /** For name, TCP and TLS together; 5 s. */
  connectTimeoutMs?: number;
  /** For the whole exchange; 15 s. */
  totalTimeoutMs?: number;
  /** Aborts the request, which then throws the signal's reason. */
  signal?: AbortSignal;
}

/** A phase that was cut short or failed counts until then. */
export interface Timings {
  /** Null for a literal address, and for a name that was looked up a moment ago. */
  dnsMs: number | null;
  /** Null on a kept connection. */
  tcpMs: number | null;
  /** Null on a kept connection and for plain http. */
  tlsMs: number | null;
  /** From the start until the final headers; null if they never came. */
  firstByteMs: number | null;
  totalMs: number;
}

export interface AnsweredRequest {
  outcome: "answered";
  /** 200–299 or 400–599. */
  status: number;
  /** At most 4 KiB, for the log. */
  text: string;
  /** The header as it came. */
  retryAfter: string | undefined;
  /** Where `mostBodyBytes` was given and all of it came. */
  body?: Uint8Array | undefined;
  /** False: the answer broke off, lasted too long, or was longer than what was wanted of it. */
  isWhole: boolean;
  address: string | undefined;
  timings: Timings;
}

export interface FailedRequest {
  outcome: "failed";
  errorClass: ErrorClass;
  /** False: not a byte of the request left, so it certainly had no effect. */
  wasSent: boolean;
  /** For the operator who reads the log. */
  detail: string;
  /** Of a redirect, which is a failure here. */
  status?: number;
  /** Where a redirect points, as the header came; undefined where it holds a user name or password. */
  location?: string | undefined;
  retryAfter?: string | undefined;
  address: string | undefined;
  timings: Timings;
}

export type GuardedResult = AnsweredRequest | FailedRequest;

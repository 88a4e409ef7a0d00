import type { Writable } from "node:stream";
import type { ErrorClass } from "./outgoing-failure.ts";

/** Each purpose has its own allowed networks: a network allowed for webhooks is closed to every other purpose. */
export type Purpose = "webhook" | "vast" | "video";

export interface OutgoingRequest {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string | Uint8Array;
  purpose: Purpose;
  /**
   * `kept`, the default: reuses an open connection if there is one. The other side may be closing it: a request that breaks
   * on it before a byte comes back is sent once more immediately, on a new one, so use this only for requests that may
   * arrive twice. `fresh`: a new connection, used once; the request is sent once.
   */
  connection?: "kept" | "fresh";
  /** An answer with fewer bytes than this is returned whole, as `body`; without it at most 16 KiB are read. */
  mostBodyBytes?: number;
  /** Receives the body of a 200 as it arrives, at most `mostBodyBytes`, instead of memory. The stream is not ended. */
  bodyTo?: Writable;
  /** For name resolution, TCP and TLS together; default 5 s. */
  connectTimeoutMs?: number;
  /** For the whole exchange; default 15 s. */
  totalTimeoutMs?: number;
  /** Aborts the request, which then throws the signal's reason. */
  signal?: AbortSignal;
}

/** A phase that was aborted or failed counts until that moment. */
export interface Timings {
  /** Null for a literal address, and for a name whose addresses are cached. */
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
  /** The header, unparsed. */
  retryAfter: string | undefined;
  /** Set if `mostBodyBytes` was given and the whole body arrived. */
  body?: Uint8Array | undefined;
  /** False: the answer broke off, took too long, or was longer than the requested maximum. */
  isWhole: boolean;
  address: string | undefined;
  timings: Timings;
}

export interface FailedRequest {
  outcome: "failed";
  errorClass: ErrorClass;
  /** False: no byte of the request was sent, so it certainly had no effect. */
  wasSent: boolean;
  /** For the operator who reads the log. */
  detail: string;
  /** Status of a redirect, which is a failure here. */
  status?: number;
  /** The unparsed `Location` of a redirect; undefined if it contains a user name or password. */
  location?: string | undefined;
  retryAfter?: string | undefined;
  address: string | undefined;
  timings: Timings;
}

export type GuardedResult = AnsweredRequest | FailedRequest;

import type { Writable } from "node:stream";
import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";

/** Each purpose has its own allowed networks: a network allowed for webhooks is closed to every other purpose. */
export type Purpose = "webhook" | "vast" | "video" | "buyer" | "ord";

export interface OutgoingRequest {
  url: string;
  method: "GET" | "POST" | "PUT";
  headers: Record<string, string>;
  body?: string | Uint8Array;
  purpose: Purpose;
  /**
   * `kept`, the default: reuses an open connection if there is one. The other side may be closing it: a request that breaks
   * on it before a byte comes back is sent once more immediately, on a new one (to the name's next address if that cannot be
   * opened), so use this only for requests that may arrive twice. `fresh`: a new connection, used once; the request is sent
   * once.
   */
  connection?: "kept" | "fresh";
  /** An answer with fewer bytes than this is returned whole, as `body`; without it at most 16 KiB are read. */
  maxBodyBytes?: number;
  /** Receives the body of a 200 as it arrives, at most `maxBodyBytes`, instead of memory. The stream is not ended. */
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
  /** Set if `maxBodyBytes` was given and the whole body arrived; not decompressed. */
  body?: Uint8Array | undefined;
  /** Headers that describe the body, unparsed. */
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** Headers that say who answered in place of the server, a line each; empty: none. */
  signs: string;
  /** False: the answer broke off, took too long, or was longer than the requested maximum. */
  isWhole: boolean;
  /** Received bytes of the body, at most as many as were requested. */
  bodyBytes: number;
  address: string | undefined;
  timings: Timings;
}

export interface FailedRequest {
  outcome: "failed";
  errorClass: RequestErrorClass;
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

/** A failure detected by this code; `errorClassOf` classifies what sockets, TLS and the parser report. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
  readonly errorClass: RequestErrorClass;

  constructor(errorClass: RequestErrorClass, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorClass = errorClass;
  }
}

const byCode: Record<string, RequestErrorClass> = {
  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",
  ETIMEDOUT: "timeout-connect",
  UND_ERR_CONNECT_TIMEOUT: "timeout-connect",
  UND_ERR_HEADERS_OVERFLOW: "too-large",
  EPROTO: "tls",
};

/** OpenSSL's verification results have no common prefix. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** undici gives a refused answer the code of a broken socket: another protocol, or an answer to nothing. */
const UNDICI_REFUSAL = /^bad (upgrade|response)$/;

/** No file handles, no memory, a closed pool, an invalid option. */
const OWN_FAULT_CODE = /^(EMFILE|ENFILE|ENOMEM|ENOBUFS|ERR_INVALID_|UND_ERR_(CLOSED|DESTROYED|INVALID_ARG|ABORTED))/;

/**
 * The class of a failure that the other side caused; undefined for a fault of this machine or this code. Unknown codes
 * count against the other side: as internal errors they would consume no attempt and recur forever.
 */
export function errorClassOf(error: unknown): RequestErrorClass | undefined {
  if (error instanceof OutgoingFailure) return error.errorClass;
  if (!(error instanceof Error)) return undefined;
  if (error.name === "HTTPParserError" || UNDICI_REFUSAL.test(error.message)) return "protocol";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "" || OWN_FAULT_CODE.test(code)) return undefined;
  if (TLS_CODE.test(code)) return "tls";
  const isConnecting = "syscall" in error && error.syscall === "connect";
  return byCode[code] ?? (isConnecting ? "refused" : "protocol");
}

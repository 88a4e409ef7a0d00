/** Why an exchange has no answer. Stored in the log of attempts, so these values must not change. */
export type ErrorClass =
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "timeout-connect"
  | "timeout-total"
  | "blocked-address"
  | "redirect"
  | "protocol"
  | "too-large";

/** A failure detected by this code; `errorClassOf` classifies what sockets, TLS and the parser report. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
  readonly errorClass: ErrorClass;

  constructor(errorClass: ErrorClass, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorClass = errorClass;
  }
}

const byCode: Record<string, ErrorClass> = {
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

/** undici gives a refused answer the code of a broken socket: another protocol, or `100 Continue` without `Expect`. */
const UNDICI_REFUSAL = /^bad (upgrade|response)$/;

/** No file handles, no memory, a closed pool, an invalid option. */
const OWN_FAULT_CODE = /^(EMFILE|ENFILE|ENOMEM|ENOBUFS|ERR_INVALID_|UND_ERR_(CLOSED|DESTROYED|INVALID_ARG|ABORTED))/;

/**
 * The class of a failure that the other side caused; undefined for a fault of this machine or this code. Unknown codes
 * count against the other side: as internal errors they would consume no attempt and recur forever.
 */
export function errorClassOf(error: unknown): ErrorClass | undefined {
  if (error instanceof OutgoingFailure) return error.errorClass;
  if (!(error instanceof Error)) return undefined;
  if (error.name === "HTTPParserError" || UNDICI_REFUSAL.test(error.message)) return "protocol";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "" || OWN_FAULT_CODE.test(code)) return undefined;
  if (TLS_CODE.test(code)) return "tls";
  const isConnecting = "syscall" in error && error.syscall === "connect";
  return byCode[code] ?? (isConnecting ? "refused" : "protocol");
}

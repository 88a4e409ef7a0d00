/** Why an exchange brought no answer. Stored in the log of attempts, so these words are for ever. */
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

/** A failure that we found ourselves; what sockets, TLS and the parser report is classed by `errorClassOf`. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
  readonly errorClass: ErrorClass;

  constructor(errorClass: ErrorClass, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorClass = errorClass;
  }
}

const byCode: Record<string, ErrorClass> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "refused",
  EHOSTDOWN: "refused",
  ENETUNREACH: "refused",
  EADDRNOTAVAIL: "refused",
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

/** The class of what the other side caused; undefined for a fault of this machine (no file handles) or of our code. */
export function errorClassOf(error: unknown): ErrorClass | undefined {
  if (error instanceof OutgoingFailure) return error.errorClass;
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code.startsWith("HPE_") || error.name === "HTTPParserError") return "protocol";
  if (TLS_CODE.test(code)) return "tls";
  return byCode[code];
}

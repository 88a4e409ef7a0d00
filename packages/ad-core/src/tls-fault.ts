const DUMP = /\berror:[0-9A-F]{8}:[^:\n]*:[^:\n]*:([^:\n]+)/i;
/** Node adds an option of its own to some reasons, which says nothing about the other side. */
const HINT_OF_NODE = /;? *(if the root CA is installed locally, )?try running Node\.js with \S+/i;

/**
 * The reason in a message of OpenSSL, such as "wrong version number": it dumps thread, code, library, function and file around
 * it, and Node adds hints of its own. Other messages are unchanged.
 */
export function openSslReason(message: string): string {
  return (DUMP.exec(message)?.[1] ?? message).replace(HINT_OF_NODE, "");
}

/** What is wrong with a TLS connection. */
export type TlsFault =
  | "without-tls"
  | "tls-self-signed"
  | "tls-private-authority"
  | "tls-incomplete-chain"
  | "tls-wrong-name"
  | "tls-expired"
  | "tls-not-yet-valid"
  | "tls-revoked"
  | "tls-version"
  | "tls-unknown-name"
  | "tls-client-certificate";

/** In the words of OpenSSL and of Node, their codes, and those of browsers. The first that matches counts. */
const reasons: Readonly<Record<TlsFault, RegExp>> = {
  "without-tls": /wrong version number|packet length too long|http request|ssl_error_rx_record_too_long/i,
  "tls-private-authority": /self[- _]signed[ _]cert(ificate)?[ _]in[ _](certificate[ _])?chain/i,
  "tls-self-signed": /self[- _]signed/i,
  "tls-incomplete-chain": /first certificate|local issuer|leaf_signature|get_issuer_cert|issuer certificate/i,
  "tls-wrong-name": /altname|hostname|host name|ip address mismatch/i,
  "tls-expired": /has[ _]expired|certificate[ _]expired/i,
  "tls-not-yet-valid": /not[ _]yet[ _]valid/i,
  "tls-revoked": /revoked/i,
  "tls-version":
    /protocol[ _]version|unsupported[ _]protocol|no[ _]protocols[ _]available|version too low|inappropriate fallback/i,
  "tls-unknown-name": /unrecognized[ _]name/i,
  "tls-client-certificate": /certificate[ _]required|alert bad certificate/i,
};

/** What a failed TLS connection says of the other side; undefined: another fault, or none of TLS. */
export function tlsFaultOf(message: string): TlsFault | undefined {
  return (Object.keys(reasons) as TlsFault[]).find((fault) => reasons[fault].test(message));
}

const DUMP = /\berror:[0-9A-F]{8}:[^:\n]*:[^:\n]*:([^:\n]+)/i;
/** What OpenSSL calls an answer without TLS, which an address with https for a port of plain HTTP gets. */
const NO_TLS = /wrong version number|packet length too long|http request|ssl_error_rx_record_too_long/i;

/**
 * The reason in a message of OpenSSL, such as "wrong version number": it dumps thread, code, library, function and file around
 * it. Other messages are unchanged.
 */
export function openSslReason(message: string): string {
  return DUMP.exec(message)?.[1] ?? message;
}

/** Whether a failure of TLS says that the port does not use TLS. */
export function isWithoutTls(message: string): boolean {
  return NO_TLS.test(message);
}

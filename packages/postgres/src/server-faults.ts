import pg from "pg";
import { connectionOf, parameterOfFile, placeOf } from "./database-url.ts";
import { isRecovering, StoreFault } from "./store-faults.ts";

/**
 * An error of the driver, of Node's network or TLS, or of the database server. The last has the place in PostgreSQL's source,
 * which tells faults of one SQLSTATE apart: the message is in the server's language (`lc_messages`).
 */
interface ServerError extends Error {
  readonly code?: unknown;
  readonly file?: unknown;
  readonly routine?: unknown;
  readonly path?: unknown;
  readonly syscall?: unknown;
  readonly cert?: unknown;
}

/**
 * The message for the operator when a database server cannot be used at the start, or undefined for an error that does not
 * concern the connection. Contains host and database, never the password; PostgreSQL's own message may contain the user.
 */
export function faultOfServer(databaseUrl: string, error: unknown): StoreFault | undefined {
  if (!(error instanceof Error)) return undefined;
  const words =
    wordsOfFile(error, databaseUrl) ??
    wordsOfAccessRules(error, databaseUrl) ??
    wordsOfTls(error, placeOf(databaseUrl)) ??
    wordsOfCode(error, placeOf(databaseUrl));
  return words === undefined ? undefined : new StoreFault(words, { cause: error });
}

function codeOf({ code }: ServerError): string {
  return typeof code === "string" ? code : "";
}

/** The files that the address names. */
function wordsOfFile(error: ServerError, databaseUrl: string): string | undefined {
  const { path, syscall } = error;
  if (typeof path === "string" && (syscall === "open" || syscall === "read")) {
    const name = parameterOfFile(databaseUrl, path);
    return (
      name &&
      `the file of ${name} in DATABASE_URL, ${path}, cannot be read (${codeOf(error)}): correct its path or its mode`
    );
  }
  if (codeOf(error).startsWith("ERR_OSSL_")) {
    return `a file of sslrootcert, sslcert or sslkey in DATABASE_URL is no certificate or key in PEM (${codeOf(error)}): name the right one`;
  }
  return undefined;
}

/** Node's codes of OpenSSL's verdicts on a certificate, and the driver's messages, which have no code. */
function wordsOfTls(error: ServerError, place: string): string | undefined {
  const code = codeOf(error);
  const of = `the database server of DATABASE_URL (${place})`;
  switch (code) {
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "CERT_UNTRUSTED":
      return `the certificate of ${of} is not trusted (${code}): name the certificate of its authority by sslmode=verify-full&sslrootcert=/path/to/ca.pem in the address`;
    case "CERT_HAS_EXPIRED":
      return `the certificate of ${of} has expired (${code}): renew it there; if it has not, set this machine's clock`;
    case "CERT_NOT_YET_VALID":
      return `the certificate of ${of} is not valid yet (${code}): set this machine's clock, or replace the certificate there`;
    case "CERT_REVOKED":
      return `the certificate of ${of} was revoked (${code}): replace it there`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "HOSTNAME_MISMATCH":
      return `the certificate of ${of} is for another host${namesOf(error)} (${code}): name the host in the address as the certificate does`;
    case "EPROTO":
      return `the TLS connection to ${of} failed (${code}): its versions or ciphers of TLS are not those of Node, or it does not speak TLS there`;
  }
  if (/does not support SSL/i.test(error.message)) {
    return `${of} offers no TLS: enable it there (ssl = on), or, where the network is yours alone, write sslmode=disable in the address`;
  }
  if (/error establishing an SSL connection/i.test(error.message)) {
    return `what answers at the address of DATABASE_URL (${place}) is no PostgreSQL server: correct host and port`;
  }
  if (/^(ERR_TLS_|ERR_SSL_|CERT_|INVALID_)/.test(code) || /certificate/i.test(error.message)) {
    return `the TLS connection to ${of} failed: ${error.message}; correct its certificate, or sslmode in the address`;
  }
  return undefined;
}

/** The server's verdict on a connection by its `pg_hba.conf`, before it asks for a password. */
function wordsOfAccessRules(error: ServerError, databaseUrl: string): string | undefined {
  if (codeOf(error) !== "28000" || error.routine !== "ClientAuthentication") return undefined;
  const { ssl, host } = new pg.Client(connectionOf(databaseUrl));
  const of = `the database server of DATABASE_URL (${placeOf(databaseUrl)})`;
  if (!ssl && !host.startsWith("/")) {
    return `${of} has no access rule for this connection without TLS (${error.message}): write sslmode=verify-full in the address, or add a rule there (pg_hba.conf)`;
  }
  const orCertificate =
    ssl && !new URL(databaseUrl).searchParams.has("sslcert")
      ? "; if it requires a client certificate, name it by sslcert and sslkey in the address"
      : "";
  return `${of} has no access rule for this connection (${error.message}): add one there (pg_hba.conf)${orCertificate}`;
}

/** The names in a certificate, which the other side has written: bounded, and without control characters. */
function namesOf({ cert }: ServerError): string {
  if (typeof cert !== "object" || cert === null || !("subjectaltname" in cert)) return "";
  const names = String(cert.subjectaltname).replaceAll(/\p{Cc}/gu, " ");
  return `, ${names.length > 200 ? `${names.slice(0, 200)}…` : names}`;
}

function wordsOfCode(error: ServerError, place: string): string | undefined {
  const { message, file, routine } = error;
  const code = codeOf(error);
  // Also of SQLSTATE 42501, for a parameter that only superusers set.
  if (file === "guc.c" || routine === "process_postgres_switches") {
    return `the database of DATABASE_URL (${place}) refuses a parameter of the address or of its options: ${message}; remove or correct it`;
  }
  if (isRecovering(error)) {
    return `the database of DATABASE_URL (${place}) still recovers, or is a standby: start again in a moment, or name the primary server`;
  }
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the host of DATABASE_URL (${place}) is not known (${code}): correct the address, or the name service`;
    case "ECONNREFUSED":
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ECONNRESET":
    case "ENOENT":
      return `the database of DATABASE_URL (${place}) does not answer (${code}): start it, or correct the address`;
    case "28P01":
    case "28000":
      return `the database refused us: ${message}; correct the user or password in DATABASE_URL, where special characters are percent-encoded (% is %25)`;
    case "3D000":
      return `${message}: create it, or correct DATABASE_URL`;
    case "42501":
      return `the user of DATABASE_URL lacks a right: ${message}; make this user the owner of the database and of this server's schema in it`;
    case "53300":
    case "57P03":
      return `the database of DATABASE_URL (${place}) accepts no connections now: ${message}; start again in a moment, or raise the limit that this names`;
    case "53100":
      return `the disk of the database server (${place}) is full: ${message}; free some space there, then start again`;
    case "25006":
      return `the database of DATABASE_URL (${place}) is read-only: name the primary server, not a standby; on a primary, set default_transaction_read_only to off for its user and database`;
  }
  // Errors of the driver itself have no code.
  if (/client password must be a/i.test(message)) {
    return `the database of DATABASE_URL (${place}) asks for a password, and the address has none: write postgres://user:password@…`;
  }
  if (/timeout expired|Connection terminated|connection timeout|Query read timeout/i.test(message)) {
    return `the database of DATABASE_URL (${place}) does not answer (${message}): start it, or correct the address; a pooler needs a connection to it for each of ours`;
  }
  // Poolers refuse by a code of this class; the file is that in which PostgreSQL begins a session.
  if (/^08.{3}$/.test(code) || file === "postinit.c") {
    return `the database server of DATABASE_URL (${place}), or the pooler before it, refuses the connection: ${message}; correct the address, or what refuses it there`;
  }
  return undefined;
}

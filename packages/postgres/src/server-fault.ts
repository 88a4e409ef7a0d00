import { StoreFault } from "./store-fault.ts";

/** The error in the form of a PostgreSQL server's address, or undefined. It never contains the address. */
export function databaseUrlFault(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return "must begin with postgres://";
  if (!URL.canParse(text)) return "is no address as postgres://user:password@host:5432/database";
  const { username, password, pathname } = new URL(text);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch {
    return "has a % that is no percent-encoding: in a user name or password write %25 for it";
  }
  return undefined;
}

/**
 * The message for the operator when a database server cannot be used at the start, or undefined for an error that does not
 * concern the connection. Contains host and database, never the password; PostgreSQL's own message may contain the user.
 */
export function faultOfServer(databaseUrl: string, error: unknown): StoreFault | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const words = wordsOfCode(code, error, placeOf(databaseUrl));
  return words === undefined ? undefined : new StoreFault(words, { cause: error });
}

function wordsOfCode(code: string, { message }: Error, place: string): string | undefined {
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
      return `the database refused us: ${message}; correct the user or password in DATABASE_URL`;
    case "3D000":
      return `${message}: create it, or correct DATABASE_URL`;
    case "42501":
      return `the user of DATABASE_URL lacks a right: ${message}; make this user the owner of the database`;
    case "53300":
    case "57P03":
      return `the database of DATABASE_URL (${place}) accepts no connections now: ${message}; start again in a moment`;
    case "53100":
      return `the disk of the database server (${place}) is full: ${message}; free some space there, then start again`;
    case "25006":
      return `the database of DATABASE_URL (${place}) is read-only: name the primary server, not a standby`;
    default:
      return wordsWithoutCode(message, place);
  }
}

/** Errors of the driver itself have no code. */
function wordsWithoutCode(message: string, place: string): string | undefined {
  if (/timeout expired|Connection terminated|connection timeout/i.test(message)) {
    return `the database of DATABASE_URL (${place}) does not answer (${message}): start it, or correct the address`;
  }
  if (/does not support SSL|self-signed certificate|unable to verify|certificate/i.test(message)) {
    return `the connection to the database of DATABASE_URL (${place}) cannot be encrypted: ${message}; correct sslmode in the address`;
  }
  return undefined;
}

function placeOf(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return "unreadable address";
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  const host = hostname || searchParams.get("host") || "localhost";
  return `${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

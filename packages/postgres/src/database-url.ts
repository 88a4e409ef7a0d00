const howToEncode =
  "in user name and password, special characters are percent-encoded: @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25";

/** Those of the driver. */
const sslmodes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/**
 * The fault in the form of a PostgreSQL server's address, or undefined. It never contains a part of the address.
 *
 * A `/`, `?` or `#` in a password that is not percent-encoded ends what is read as user, password, host and port, so that a
 * piece of the password is read as the host. Such an address has an `@` behind that end, or a `#`.
 */
function databaseUrlFault(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return "must begin with postgres://";
  if (/\S\s+\S/.test(text)) return `has a blank: write it as %20; ${howToEncode}`;
  const [, authority = "", behindHost = ""] = /^[^/]*\/\/([^/?#]*)(.*)$/s.exec(text.trim()) ?? [];
  const hosts = authority.slice(authority.lastIndexOf("@") + 1);
  if (/[@#]/.test(behindHost)) return `has an @ or a # where none can be, probably in its password: ${howToEncode}`;
  if (/@\//.test(text) || hosts.includes(","))
    return "must name one host, as postgres://user:password@host:5432/database; a socket's folder is percent-encoded: @%2Frun%2Fpostgresql/database";
  if (!URL.canParse(text)) return `is no address as postgres://user:password@host:5432/database; ${howToEncode}`;
  const { username, password, pathname, searchParams } = new URL(text);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch {
    return `has a % that is no percent-encoding; ${howToEncode}`;
  }
  const sslmode = searchParams.get("sslmode");
  // The driver takes any other word for TLS that it verifies.
  if (sslmode !== null && !sslmodes.includes(sslmode)) return `has an sslmode that is none of ${sslmodes.join(", ")}`;
  return undefined;
}

/** The same as a check of a zod string: an invalid address is an issue, without the address, which contains a password. */
export function checkDatabaseUrl({ value, issues }: { readonly value: string; readonly issues: Issues }): void {
  const message = databaseUrlFault(value);
  if (message !== undefined) issues.push({ code: "custom", input: undefined, message });
}

interface Issues {
  push(issue: { code: "custom"; input: undefined; message: string }): unknown;
}

/**
 * How the driver connects. Without `uselibpqcompat` it treats `prefer`, `require` and `verify-ca` as `verify-full`, and prints a
 * warning about that, which this avoids.
 */
export function connectionOf(databaseUrl: string): { connectionString: string } {
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(databaseUrl)) return { connectionString: databaseUrl };
  return { connectionString: databaseUrl.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, "$1verify-full") };
}

/** Host, port and database of an address, for people; never a part of an address in which they cannot be told from a password. */
export function placeOf(databaseUrl: string): string {
  if (databaseUrlFault(databaseUrl) !== undefined) return "unreadable address";
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  // The driver prefers the parameters.
  const host = searchParams.get("host") || hostname || "localhost";
  const portText = searchParams.get("port") || port;
  return `${host}${portText === "" ? "" : `:${portText}`}${pathname}`;
}

/** The parameter of an address that names this file. */
export function parameterOfFile(databaseUrl: string, path: string): string | undefined {
  if (!URL.canParse(databaseUrl)) return undefined;
  const { searchParams } = new URL(databaseUrl);
  return ["sslrootcert", "sslcert", "sslkey"].find((name) => searchParams.get(name) === path);
}

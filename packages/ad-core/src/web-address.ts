/** Why an address may be neither stored nor fetched. */
export type WebAddressFault = "not-an-address" | "scheme" | "user-info";

const USER_INFO = /^(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})[^/\\?#]*@/i;

/**
 * The first fault of an address that an operator, a publisher or an ad names; undefined for a good one. The URL parser
 * decides what the scheme is, since it reads `HTTP://`, ` http://` and `ht\ntp://` alike (WHATWG URL, 4.4).
 */
export function webAddressFault(
  text: string,
  { isPlainHttpAllowed }: { isPlainHttpAllowed: boolean },
): WebAddressFault | undefined {
  const url = URL.parse(text);
  if (url === null) return "not-an-address";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isPlainHttpAllowed)) return "scheme";
  return hasUserInfo(text) ? "user-info" : undefined;
}

/** Whether the address is unencrypted HTTP, in any spelling. */
export function isPlainHttp(text: string): boolean {
  return URL.parse(text)?.protocol === "http:";
}

/**
 * Whether a user name, a password or an empty part before an `@` stands before the host, in an absolute address or one
 * that begins with `//`. Reads the text: the URL parser drops an `@` that nothing precedes.
 */
export function hasUserInfo(text: string): boolean {
  return USER_INFO.test(withoutIgnored(text));
}

/** A good address with its scheme and host in lower case and without a final slash, so that a path can follow it. */
export function canonicalAddress(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

/** As the URL parser does: control characters and blanks around it, tabs and line ends anywhere. */
function withoutIgnored(text: string): string {
  const start = text.search(/[^\0- ]/);
  return start < 0 ? "" : text.slice(start).replaceAll(/[\t\n\r]/g, "");
}

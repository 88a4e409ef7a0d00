/** Why an address may be neither stored nor fetched. */
export type WebAddressFault = "not-an-address" | "scheme" | "user-info";

const USER_INFO = /^(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})[^/\\?#]*@/i;

/**
 * The first fault of an address given by an operator, a publisher or an ad; undefined for a valid one. The URL parser
 * determines the scheme, since it reads `HTTP://`, ` http://` and `ht\ntp://` alike (WHATWG URL, 4.4).
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

const ESCAPED_AMPERSAND = /&(?:amp;|#38;|#x26;)+/gi;

/**
 * An address that was copied from HTML, or escaped once more than its XML needs: there `&amp;` separates the parameters of a
 * query. In an address itself these characters mean nothing.
 */
export function unescapedAddress(text: string): string {
  return text.replaceAll(ESCAPED_AMPERSAND, "&");
}

/** Whether the address is unencrypted HTTP, in any spelling. */
export function isPlainHttp(text: string): boolean {
  return URL.parse(text)?.protocol === "http:";
}

/** Whether it is an origin as browsers write it, of a page on the web: `https://game.example`. */
export function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text;
}

/**
 * Whether an absolute address, or one that begins with `//`, has a user name, a password or an empty part before an `@`
 * in front of the host. Checks the text, because the URL parser drops an `@` after an empty part.
 */
export function hasUserInfo(text: string): boolean {
  return USER_INFO.test(withoutIgnored(text));
}

/** A valid address with its scheme and host in lower case and without a final slash, so that a path can be appended. */
export function canonicalAddress(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

/** Removes what the URL parser ignores: control characters and blanks around the text, tabs and line ends anywhere. */
function withoutIgnored(text: string): string {
  const start = text.search(/[^\0- ]/);
  return start < 0 ? "" : text.slice(start).replaceAll(/[\t\n\r]/g, "");
}

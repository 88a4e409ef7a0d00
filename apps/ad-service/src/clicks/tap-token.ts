import { createHmac, timingSafeEqual } from "node:crypto";
import { randomBytes } from "@intermission/server/random-bytes";

/** Why a tap may not be by the visitor to whom its page was sent. */
export type TapSuspicion =
  /** The same browser, by its cookie, posted the form from another address than the page was sent to. */
  | "address-changed"
  /** The second form of a visitor came from another address, too, and without the cookie. */
  | "tap-unconfirmed";

/** Who requests a tap page or posts its form. */
export interface TapVisit {
  code: string;
  /** As returned by `addressNetwork`. */
  client: string;
  /** The page's cookie, if the browser sent it. */
  cookie: string | undefined;
}

/** Whether the page is a visitor's first for this code, or follows a form of ours that could not be accepted. */
export type TapPage = "first" | "second";

export type TapVerdict =
  | { outcome: "accepted"; suspicion: TapSuspicion | undefined }
  /** The form counts nothing; the visitor gets this page. */
  | { outcome: "refused"; next: TapPage };

const numberOfPage = { first: "1", second: "2" } as const satisfies Record<TapPage, string>;

const TAP_SECONDS = 600;
const FORM = /^(([0-9a-z]{1,9})\.([12])\.([\w-]{11})\.([\w-]{11}))\.([\w-]{43})$/;

/** The key of the tokens. It derives from the one in the environment, so that every node knows it. */
export function tapTokenKey(encryptionKey: Uint8Array): Buffer {
  return createHmac("sha256", encryptionKey).update("direct-link tap tokens").digest();
}

/**
 * The token in the form of the tap page: it shows that this visitor was sent the page for this code a moment ago.
 *
 * `<end in seconds, base 36>.<1 or 2: first or second page>.<mark of the cookie>.<mark of the address>.<HMAC-SHA256>`, the
 * marks and the HMAC in base64url.
 */
export function issueTapToken(key: Buffer, visit: TapVisit & { cookie: string }, page: TapPage, now: Date): string {
  const end = (Math.floor(now.getTime() / 1000) + TAP_SECONDS).toString(36);
  const marks = `${markOf(key, "cookie", end, visit.cookie)}.${markOf(key, "address", end, visit.client)}`;
  const token = `${end}.${numberOfPage[page]}.${marks}`;
  return `${token}.${signatureOf(key, token, visit.code).toString("base64url")}`;
}

/**
 * Judges the form's token. The cookie or the address must be the page's: many people's address changes with each request,
 * and some browsers refuse cookies. For people to whom both applies a second form is accepted as suspicious, since a third
 * would prove no more.
 */
export function judgeTap(
  acceptedKeys: readonly Buffer[],
  token: string | undefined,
  visit: TapVisit,
  now: Date,
): TapVerdict {
  const [, signed = "", end = "", page, cookieMark, addressMark, presentedMac = ""] = FORM.exec(token ?? "") ?? [];
  const mac = Buffer.from(presentedMac, "base64url");
  const key = acceptedKeys.find((one) => {
    const expected = signatureOf(one, signed, visit.code);
    return mac.byteLength === expected.byteLength && timingSafeEqual(mac, expected);
  });
  if (key === undefined) return { outcome: "refused", next: "first" };
  if (Math.floor(now.getTime() / 1000) > Number.parseInt(end, 36)) return { outcome: "refused", next: "second" };

  const isSameAddress = addressMark === markOf(key, "address", end, visit.client);
  if (isSameAddress) return { outcome: "accepted", suspicion: undefined };
  const isSameBrowser = visit.cookie !== undefined && cookieMark === markOf(key, "cookie", end, visit.cookie);
  if (isSameBrowser) return { outcome: "accepted", suspicion: "address-changed" };
  return page === numberOfPage.second
    ? { outcome: "accepted", suspicion: "tap-unconfirmed" }
    : { outcome: "refused", next: "second" };
}

function signatureOf(key: Buffer, token: string, code: string): Buffer {
  return createHmac("sha256", key).update(`${token} ${code}`).digest();
}

/** 64 bits: the signature covers them, so they can only be guessed at the server. */
function markOf(key: Buffer, kind: "cookie" | "address", end: string, text: string): string {
  return createHmac("sha256", key).update(`${kind} ${end} ${text}`).digest().subarray(0, 8).toString("base64url");
}

const COOKIE = /(?:^|;\s*)tap=([\w-]{22})(?:;|$)/;

/** The tap page's cookie in a request's `Cookie` header. */
export function tapCookieIn(header: string | undefined): string | undefined {
  return COOKIE.exec(header ?? "")?.[1];
}

export function newTapCookie(): string {
  return randomBytes(16).toString("base64url");
}

/** The `Set-Cookie` header: sent back to this link only, for as long as a form is valid. */
export function setTapCookie(cookie: string, { path, isSecure }: { path: string; isSecure: boolean }): string {
  return `tap=${cookie}; Path=${path}; Max-Age=${TAP_SECONDS}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

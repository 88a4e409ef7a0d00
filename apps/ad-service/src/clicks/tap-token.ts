import { createHmac, timingSafeEqual } from "node:crypto";

export interface TapVisit {
  code: string;
  /** As returned by `addressNetwork`. */
  client: string;
}

/** The token in the form of the tap page: it shows that this visitor was sent the page for this code a moment ago. */
export interface TapTokens {
  issue(visit: TapVisit, now: Date): string;
  isValid(token: string | undefined, visit: TapVisit, now: Date): boolean;
}

const LIFETIME_SECONDS = 600;
const FORM = /^([0-9a-z]{1,9})\.([\w-]{43})$/;

/**
 * `<end in seconds, base 36>.<HMAC-SHA256, base64url>` with a key that is derived from the one in the environment, so
 * every node knows it. Bound to the code and to the address: of IPv6 its first 64 bits, which a household keeps.
 */
export function tapTokens(encryptionKey: Uint8Array): TapTokens {
  const key = createHmac("sha256", encryptionKey).update("direct-link tap tokens").digest();
  const sign = (end: string, { code, client }: TapVisit) =>
    createHmac("sha256", key).update(`${end} ${code} ${client}`).digest();
  return {
    issue(visit, now) {
      const end = (Math.floor(now.getTime() / 1000) + LIFETIME_SECONDS).toString(36);
      return `${end}.${sign(end, visit).toString("base64url")}`;
    },
    isValid(token = "", visit, now) {
      const [, end = "", given = ""] = FORM.exec(token) ?? [];
      const mac = Buffer.from(given, "base64url");
      const expected = sign(end, visit);
      if (mac.byteLength !== expected.byteLength || !timingSafeEqual(mac, expected)) return false;
      return Math.floor(now.getTime() / 1000) <= Number.parseInt(end, 36);
    },
  };
}

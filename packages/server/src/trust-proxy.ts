import { isIP } from "node:net";

/** The proxies whose `X-Forwarded-For` is trusted: none, all, this many hops before this server, or these addresses. */
export type TrustProxy = boolean | number | string[];

const proxyNames = ["loopback", "linklocal", "uniquelocal"];
const MOST_HOPS = 32;

/** The form of `TRUST_PROXY`, for the error message about an invalid one. */
export const trustProxyForm =
  "must be the number of proxies before this server, as 1, or their addresses or networks, as 127.0.0.1,10.0.0.0/8, or true or false";

/** Undefined for invalid text. */
export function parseTrustProxy(text: string): TrustProxy | undefined {
  const words = text.trim();
  if (words === "true" || words === "false") return words === "true";
  if (/^\d+$/.test(words)) {
    const hops = Number(words);
    return hops > MOST_HOPS ? undefined : hops === 0 ? false : hops;
  }
  const places = words.split(",").map((place) => place.trim());
  return places.every((place) => proxyNames.includes(place) || isNetwork(place)) ? places : undefined;
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0 || address.includes("%")) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

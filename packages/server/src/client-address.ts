import type { IncomingHttpHeaders } from "node:http";
import { isIP, isIPv6 } from "node:net";

/**
 * Rewrites `X-Forwarded-For` in place, so that `request.ip` has one spelling for each address and trusted proxies are
 * recognized in every spelling: without a port, brackets, a zone id or quotes, in lower case, and IPv4 that is written as IPv6
 * (mapped, translated, NAT64) as IPv4. What stands before an entry that is no address is removed with it: the client is then the proxy that passed it on, so
 * that all such text is one visitor.
 */
export function normalizeForwardedFor(headers: IncomingHttpHeaders): void {
  const header = headers["x-forwarded-for"];
  if (header === undefined) return;
  // Behind one proxy it is nearly always one canonical address.
  if (typeof header === "string" && FOUR_PARTS.test(header)) return;
  const entries = (Array.isArray(header) ? header.join(",") : header).split(",");
  const addresses: string[] = [];
  for (const entry of entries.toReversed()) {
    const address = addressIn(entry.trim());
    if (address === undefined) break;
    addresses.unshift(address);
  }
  if (addresses.length > 0) headers["x-forwarded-for"] = addresses.join(", ");
  else delete headers["x-forwarded-for"];
}

/** IPv4 in IPv6, in canonical form: mapped (RFC 4291), translated (RFC 2765), and of a NAT64 (RFC 6052), which has all of IPv4 in one /64. */
const EMBEDDED_IPV4 = /^(?:::ffff:|::ffff:0:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const FOUR_PARTS = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
const MAX_PORT = 65_535;

/** The canonical text of an address in any spelling; undefined for other text. */
function addressIn(text: string): string | undefined {
  // Most are canonical already.
  if (FOUR_PARTS.test(text)) return text;
  // The longest address with a zone id, a port, brackets and quotes is shorter.
  if (text.length > 128) return undefined;
  const unquoted = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const [, bracketed, v4, port] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::(\d{1,5}))?$/.exec(unquoted) ?? [];
  if (port !== undefined && Number(port) > MAX_PORT) return undefined;
  const address = (bracketed ?? v4 ?? unquoted).replace(/%[\w.-]*$/, "");
  if (FOUR_PARTS.test(address)) return address;
  if (!isIPv6(address)) return undefined;
  // The URL parser writes it in its canonical form (RFC 5952) in 0.5 µs; ipaddr.js takes 25.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high = "", low = ""] = EMBEDDED_IPV4.exec(canonical) ?? [];
  if (high === "") return canonical;
  const bytes = [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]);
  return bytes.join(".");
}

/**
 * The key under which limits count a client: an IPv4 address, or the first 64 bits of an IPv6 address, since one household
 * has all addresses with these bits. Undefined stands for a caller on a Unix socket.
 */
export function addressNetwork(address: string | undefined): string {
  return address === undefined ? "socket" : clientNetworks(address).client;
}

/** The keys under which limits count an address. */
export interface ClientNetworks {
  /** The key that `addressNetwork` returns. */
  client: string;
  /** The surrounding network, usually of one provider, data centre or site: /24 of IPv4, /56 of IPv6. */
  wider: string;
}

/** All text that is no address has one key. */
const noAddress: ClientNetworks = { client: "unknown", wider: "unknown" };

export function clientNetworks(address: string): ClientNetworks {
  const client = addressIn(address);
  if (client === undefined) return noAddress;
  if (FOUR_PARTS.test(client)) return { client, wider: client.slice(0, client.lastIndexOf(".")) };
  const [before = [], after] = client.split("::").map((side) => (side === "" ? [] : side.split(":")));
  const zeros = after === undefined ? 0 : 8 - before.length - after.length;
  const parts = [...before, ...Array.from({ length: zeros }, () => "0"), ...(after ?? [])];
  const site = (Number.parseInt(parts[3] ?? "0", 16) & 0xff00).toString(16);
  return { client: `${parts.slice(0, 4).join(":")}::/64`, wider: `${parts.slice(0, 3).join(":")}:${site}::/56` };
}

/** The proxies whose `X-Forwarded-For` is trusted: none, all, this many hops before this server, or these addresses. */
export type TrustProxy = boolean | number | string[];

const proxyNames = ["loopback", "linklocal", "uniquelocal"];
const MAX_HOPS = 32;

/** The form of `TRUST_PROXY`, for the error message about an invalid one. */
export const trustProxyForm =
  "must be the number of proxies before this server, as 1, or their addresses or networks, as 127.0.0.1,10.0.0.0/8, or true or false";

/** Undefined for invalid text. */
export function parseTrustProxy(text: string): TrustProxy | undefined {
  const words = text.trim();
  if (words === "true" || words === "false") return words === "true";
  if (/^\d+$/.test(words)) {
    const hops = Number(words);
    return hops > MAX_HOPS ? undefined : hops === 0 ? false : hops;
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

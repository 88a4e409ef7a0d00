import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";

/**
 * Rewrites `X-Forwarded-For` in place, so that `request.ip` has one spelling for each address and a trusted proxy is found
 * in it whatever else it writes: without a port, brackets, a zone id or quotes, lower case, and IPv4 that is mapped into IPv6
 * as IPv4. What is no address stays as it is.
 */
export function normalizeForwardedFor(headers: IncomingHttpHeaders): void {
  const given = headers["x-forwarded-for"];
  if (given === undefined) return;
  const entries = (Array.isArray(given) ? given.join(",") : given).split(",");
  headers["x-forwarded-for"] = entries.map((entry) => canonicalAddress(entry.trim())).join(", ");
}

const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const FOUR_PARTS = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);

/** The canonical text of an address, however it is spelled; other text comes back unchanged. */
export function canonicalAddress(text: string): string {
  // Most are spelled so already.
  if (FOUR_PARTS.test(text)) return text;
  const [, bracketed] = /^"?\[([^\]]*)\](?::\d{1,5})?"?$/.exec(text) ?? [];
  const [, v4] = /^"?(\d+\.\d+\.\d+\.\d+)(?::\d{1,5})?"?$/.exec(text) ?? [];
  const address = (bracketed ?? v4 ?? text).replace(/%[\w.-]*$/, "");
  // Only in four parts: ipaddr.js also reads "1" and "0x7f.1" as addresses, proxies never write them.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return text;
  return ipaddr.process(address).toString();
}

/**
 * The key under which limits count a client: an IPv4 address, or the first 64 bits of an IPv6 one, since one household holds
 * all the rest. Undefined is a caller on a Unix socket.
 */
export function addressNetwork(address: string | undefined): string {
  return address === undefined ? "socket" : clientNetworks(address).client;
}

/** What limits count an address under. Reading an IPv6 address takes 10 µs: do it once for a request. */
export interface ClientNetworks {
  /** As `addressNetwork` gives it. */
  client: string;
  /** The network around it that one provider or data centre holds: /24 of IPv4, /48 of IPv6. */
  wider: string;
}

export function clientNetworks(address: string): ClientNetworks {
  const canonical = canonicalAddress(address);
  if (FOUR_PARTS.test(canonical)) return { client: canonical, wider: canonical.slice(0, canonical.lastIndexOf(".")) };
  if (!ipaddr.IPv6.isValid(canonical)) return { client: canonical, wider: canonical };
  const parts = ipaddr.IPv6.parse(canonical).parts.map((part) => part.toString(16));
  return { client: `${parts.slice(0, 4).join(":")}::/64`, wider: `${parts.slice(0, 3).join(":")}::/48` };
}

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

/** The canonical text of an address, however it is spelled; other text comes back unchanged. */
export function canonicalAddress(text: string): string {
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
  if (address === undefined) return "socket";
  return prefixOf(address, { v4Parts: 4, v6Parts: 4 });
}

/** The network around a client that one provider or data centre holds: /24 of IPv4, /48 of IPv6. */
export function widerNetwork(address: string): string {
  return prefixOf(address, { v4Parts: 3, v6Parts: 3 });
}

function prefixOf(address: string, { v4Parts, v6Parts }: { v4Parts: number; v6Parts: number }): string {
  const canonical = canonicalAddress(address);
  if (ipaddr.IPv4.isValidFourPartDecimal(canonical)) return canonical.split(".").slice(0, v4Parts).join(".");
  if (!ipaddr.IPv6.isValid(canonical)) return canonical;
  const first = ipaddr.IPv6.parse(canonical).parts.slice(0, v6Parts);
  return `${first.map((part) => part.toString(16)).join(":")}::/${v6Parts * 16}`;
}

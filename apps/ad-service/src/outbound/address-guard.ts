import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { hasUserInfo } from "@intermission/ad-core/web-address";
import ipaddr from "ipaddr.js";
import { OutgoingFailure } from "./outgoing-request.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** The prefix that IANA allocates for the internet; every other IPv6 prefix is special or unassigned. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Addresses of the public range that only machines inside a cloud can reach: Azure's WireServer (168.63.129.16 returns a
 * machine's configuration), IBM Cloud's infrastructure services and service endpoints. Those of other clouds are link-local,
 * private, carrier-grade NAT or unique local.
 */
const CLOUD_INTERNAL = ["168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14"].map((text) => ipaddr.IPv4.parseCIDR(text));

/** `["10.0.0.0/8", "fd00::/8", "127.0.0.1"]` as networks; an address alone is a network of one. Throws on anything else. */
export function parseNetworks(list: readonly string[]): Network[] {
  return list.map((text) => {
    if (!ipaddr.isValidCIDR(text) && !ipaddr.isValid(text))
      throw new Error(`"${text}" is not a network; write it as 10.0.0.0/8`);
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/**
 * Whether a connection to this address may be opened: global unicast, or inside an allowed network of its own family.
 *
 * IPv6 forms that carry an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo) are never open: translators
 * outside this machine decide what they reach. `address` comes from a resolver or the URL parser, so it is canonical.
 */
export function isAddressOpen(address: string, allowedNetworks: readonly Network[]): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (allowedNetworks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits)))
    return true;
  if (parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv4) return !CLOUD_INTERNAL.some((network) => parsed.match(network));
  return parsed.match(GLOBAL_UNICAST_V6);
}

/** Compares addresses in any spelling: the operating system may spell a peer differently from the requested address. */
export function isSameAddress(one: string, other: string | undefined): boolean {
  if (other === undefined || !ipaddr.isValid(one) || !ipaddr.isValid(other)) return false;
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();
}

export interface ParsedTarget {
  readonly origin: string;
  readonly isSecure: boolean;
  /** The host name, or the literal address without its brackets. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
  readonly path: string;
}

/** The parts of a URL that a request needs. Throws an OutgoingFailure for a URL that is refused whatever its addresses are. */
export function parseTarget(text: string, isPlainHttpAllowed: boolean): ParsedTarget {
  const url = URL.parse(text);
  if (url === null) throw new OutgoingFailure("blocked-address", "this is no address");
  const isSecure = url.protocol === "https:";
  if (!isSecure && !(url.protocol === "http:" && isPlainHttpAllowed))
    throw new OutgoingFailure("blocked-address", `${url.protocol} is not allowed`);
  if (hasUserInfo(text)) throw new OutgoingFailure("blocked-address", "the address holds a user name or password");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    origin: url.origin,
    isSecure,
    host,
    isLiteral: isIP(host) !== 0,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
  };
}

/** All addresses of a name, in the order in which they should be tried. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

interface HostResolver {
  /** The cached addresses; the same array until the next look-up. */
  known(hostname: string): readonly string[] | undefined;
  /** Rejects with an OutgoingFailure. */
  lookUp: Lookup;
}

/** The checked addresses are the ones connected to, so caching them does not bypass the check. */
const KEPT_MS = 10_000;
const MAX_KEPT = 1000;

const systemLookup: Lookup = async (hostname) =>
  (await lookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address);

/**
 * Resolves names. Concurrent look-ups of one name share one: the system's resolver has four threads for the whole process,
 * and a name whose servers are silent must not occupy all of them.
 */
export function hostResolver(resolve: Lookup = systemLookup, keptMs = KEPT_MS): HostResolver {
  const kept = new Map<string, { addresses: readonly string[]; until: number }>();
  const underWay = new Map<string, Promise<readonly string[]>>();

  async function lookUpAndKeep(hostname: string): Promise<readonly string[]> {
    try {
      const addresses = await resolve(hostname);
      kept.delete(hostname);
      for (const oldest of kept.keys()) {
        if (kept.size < MAX_KEPT) break;
        kept.delete(oldest);
      }
      kept.set(hostname, { addresses, until: performance.now() + keptMs });
      return addresses;
    } catch (error) {
      const message = error instanceof Error ? error.message : "the name was not found";
      throw new OutgoingFailure("dns", message, { cause: error });
    } finally {
      underWay.delete(hostname);
    }
  }

  return {
    known(hostname) {
      const found = kept.get(hostname);
      return found && found.until > performance.now() ? found.addresses : undefined;
    },
    async lookUp(hostname) {
      const known = underWay.get(hostname);
      if (known) return known;
      const lookup = lookUpAndKeep(hostname);
      underWay.set(hostname, lookup);
      return lookup;
    },
  };
}

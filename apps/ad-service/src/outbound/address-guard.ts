import ipaddr from "ipaddr.js";

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

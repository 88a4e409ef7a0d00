/** By range, as the URL parser and resolvers write them. */
const closedV4: Record<string, readonly string[]> = {
  loopback: ["127.0.0.1", "127.255.255.254"],
  "this network": ["0.0.0.0", "0.1.2.3"],
  private: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
  "link-local": ["169.254.0.1"],
  metadata: ["169.254.169.254", "100.100.100.200", "192.0.0.192"],
  "inside a cloud": ["168.63.129.16", "161.26.0.1", "161.26.255.254", "166.8.0.1", "166.11.255.254"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
  benchmark: ["198.18.0.1", "198.19.255.255"],
  "6to4 relay": ["192.88.99.1"],
  "AS112 and AMT": ["192.31.196.1", "192.52.193.1", "192.175.48.1"],
  reserved: ["192.0.0.1", "240.0.0.1", "254.1.2.3", "255.255.255.255"],
};

const closedV6: Record<string, readonly string[]> = {
  loopback: ["::1", "0:0:0:0:0:0:0:1", "0000::0001"],
  unspecified: ["::"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8"],
  "IPv4-compatible": ["::127.0.0.1", "::7f00:1", "::8.8.8.8"],
  "IPv4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::7f00:1"],
  "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"],
  Teredo: ["2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "unique local": ["fc00::1", "fdff::1", "fd00:ec2::254"],
  "link-local": ["fe80::1", "febf::1"],
  "site-local": ["fec0::1"],
  multicast: ["ff02::1", "ff0e::1"],
  documentation: ["2001:db8::1", "3fff::1"],
  benchmark: ["2001:2::1"],
  "discard, SRv6, ORCHID": ["100::1", "5f00::1", "2001:10::1", "2001:20::1"],
  "AS112 and AMT": ["2001:4:112::1", "2001:3::1", "2620:4f:8000::1"],
  metadata: ["fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe"],
  unassigned: ["1::1", "4000::1", "8000::1"],
};

const rows = (ranges: Record<string, readonly string[]>) =>
  Object.entries(ranges).flatMap(([range, addresses]) => addresses.map((address) => ({ range, address })));

/** Addresses that this server must never connect to. */
export const closedAddresses = { v4: rows(closedV4), v6: rows(closedV6) };

/** All spellings that the URL parser reads as this IPv4 address: decimal, octal, hex, short, mixed, and with Unicode variants. */
export function spellings(address: string): string[] {
  const parts = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  const dotted = [
    address,
    parts.map(hex).join("."),
    parts.map(octal).join("."),
    parts.map((part) => `000${octal(part)}`).join("."),
    `${hex(a).toUpperCase().replace("X", "x")}.${b}.${octal(c)}.${hex(d)}`,
    `${a}.${b}.${c * 256 + d}`,
    `${octal(a)}.${hex(b)}.${octal(c * 256 + d)}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${octal((b * 256 + c) * 256 + d)}`,
    `${whole}`,
    hex(whole),
    octal(whole),
  ];
  const fullWidth = address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const percent = address.replace(/\d/g, (digit) => `%3${digit}`);
  return [...dotted, ...dotted.map((text) => `${text}.`), fullWidth, percent, address.replaceAll(".", "。")];
}

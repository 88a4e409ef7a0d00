import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { OutgoingFailure } from "./outgoing-failure.ts";

/** All addresses of a name, in the order in which they should be tried. */
export type Lookup = (hostname: string) => Promise<string[]>;

/** Addresses were checked and are connected to as they are, so keeping them for a moment opens no way around the check. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1000;

const systemLookup: Lookup = async (hostname) =>
  (await lookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address);

/**
 * Resolves names. Look-ups of one name under way at once are one: the system's resolver has four threads for the whole
 * process, and a name whose servers are silent must not take them all.
 */
export function hostResolver(lookUp: Lookup = systemLookup): Lookup {
  const kept = new Map<string, { addresses: Promise<string[]>; until: number }>();

  return async (hostname) => {
    const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (isIP(literal) !== 0) return [literal];
    const now = performance.now();
    const known = kept.get(hostname);
    if (known && known.until > now) return known.addresses;

    const entry = { addresses: lookUp(hostname).catch(failLookup), until: Number.POSITIVE_INFINITY };
    kept.delete(hostname);
    kept.set(hostname, entry);
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
    }
    entry.addresses.then(
      () => {
        entry.until = performance.now() + KEPT_MS;
      },
      () => {
        if (kept.get(hostname) === entry) kept.delete(hostname);
      },
    );
    return entry.addresses;
  };
}

function failLookup(error: unknown): never {
  throw new OutgoingFailure("dns", error instanceof Error ? error.message : "the name was not found", { cause: error });
}

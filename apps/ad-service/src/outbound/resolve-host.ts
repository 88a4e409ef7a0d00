import { lookup } from "node:dns/promises";
import { OutgoingFailure } from "./outgoing-failure.ts";

/** All addresses of a name, in the order in which they should be tried. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface HostResolver {
  /** The cached addresses; the same array until the next look-up. */
  known(hostname: string): readonly string[] | undefined;
  /** Rejects with an OutgoingFailure. */
  lookUp: Lookup;
}

/** The checked addresses are the ones connected to, so caching them does not bypass the check. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1000;

const systemLookup: Lookup = async (hostname) =>
  (await lookup(hostname, { all: true, order: "verbatim" })).map(({ address }) => address);

/**
 * Resolves names. Concurrent look-ups of one name share one: the system's resolver has four threads for the whole process,
 * and a name whose servers are silent must not occupy all of them.
 */
export function hostResolver(lookUpAnew: Lookup = systemLookup, keptMs = KEPT_MS): HostResolver {
  const kept = new Map<string, { addresses: readonly string[]; until: number }>();
  const underWay = new Map<string, Promise<readonly string[]>>();

  async function lookUpAndKeep(hostname: string): Promise<readonly string[]> {
    try {
      const addresses = await lookUpAnew(hostname);
      kept.delete(hostname);
      for (const oldest of kept.keys()) {
        if (kept.size < MOST_KEPT) break;
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
      const anew = lookUpAndKeep(hostname);
      underWay.set(hostname, anew);
      return anew;
    },
  };
}

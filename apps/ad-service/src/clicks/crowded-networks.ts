import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";

/** Some 1 kB each. The hash of a network changes daily, and so begins anew. */
const MOST_NETWORKS = 20_000;
const LATEST_CLICKS = 100;
const CROWD = 30;
/** Counting the users takes longer than everything else. */
const RECOUNT_EVERY = 10;

interface Network {
  /** A hash of the user of each of the latest clicks, oldest first. */
  readonly users: number[];
  clicks: number;
  isCrowded: boolean;
}

/**
 * The networks (/24 of IPv4, /48 of IPv6) of recent visitors, in the memory of this process: with n nodes behind a load
 * balancer, each judges a network by its own share of the clicks, and a restarted node begins anew.
 */
export type CrowdedNetworks = LRUCache<string, Network>;

export function openCrowdedNetworks(): CrowdedNetworks {
  return new LRUCache({ max: MOST_NETWORKS });
}

/** Whether the latest hundred clicks of a network on this day came from thirty users or more, as of each tenth click. */
export function isCrowdedNetwork(networks: CrowdedNetworks, networkHash: string): boolean {
  return networks.get(networkHash)?.isCrowded ?? false;
}

/** Call for each click that was counted or withheld. */
export function addClickOfNetwork(networks: CrowdedNetworks, networkHash: string, userKey: string): void {
  let network = networks.get(networkHash);
  if (network === undefined) {
    network = { users: [], clicks: 0, isCrowded: false };
    networks.set(networkHash, network);
  }
  network.users.push(crc32(userKey));
  if (network.users.length > LATEST_CLICKS) network.users.shift();
  network.clicks += 1;
  if (network.clicks % RECOUNT_EVERY === 0) network.isCrowded = new Set(network.users).size >= CROWD;
}

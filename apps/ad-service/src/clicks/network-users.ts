import { BoundedCache } from "@intermission/server/bounded-cache";

/** Users of a bot whose first click of a day came from one network. */
export interface NetworkUsers {
  readonly users: number;
  /** The latest minute of the clock in which one came, and how many came in it. */
  readonly minute: Date | null;
  readonly minuteUsers: number;
}

export const noUsers: NetworkUsers = { users: 0, minute: null, minuteUsers: 0 };

export function oneUser(now: Date): NetworkUsers {
  return { users: 1, minute: new Date(startOfMinute(now)), minuteUsers: 1 };
}

export function addUsers(some: NetworkUsers, more: NetworkUsers): NetworkUsers {
  if (some.minute === null || more.minute === null) return some.minute === null ? more : some;
  const minute = new Date(Math.max(some.minute.getTime(), more.minute.getTime()));
  const usersIn = (of: NetworkUsers) => usersOfMinute(of, minute);
  return { users: some.users + more.users, minute, minuteUsers: usersIn(some) + usersIn(more) };
}

/** How many came in the minute of `now`, or later by another node's clock. */
export function usersOfMinute({ minute, minuteUsers }: NetworkUsers, now: Date): number {
  return minute !== null && minute.getTime() >= startOfMinute(now) ? minuteUsers : 0;
}

/** In milliseconds: comparing two dates calls their `valueOf`. */
function startOfMinute(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000) * 60_000;
}

/** What a node knows about the network of a visit. */
export interface NetworkOfVisit {
  /** The network's users are in the database, too. */
  readonly isStored: boolean;
  /** Users that only this node has counted. */
  readonly pending: NetworkUsers;
}

/** Some 200 bytes each. The hash of a network changes daily, so counts start at 0 each day. */
const MAX_NETWORKS = 20_000;
/**
 * Most networks bring a bot few users: they stay in the memory of the nodes, since a row for each click would cost a fifth of
 * its time. So a node may miss this many users that other nodes counted, or that it counted itself before a restart.
 */
const MIN_STORED_USERS = 8;

/** Users of recent visitors' networks that this node has counted and not stored, by bot and hash of the network. */
export type PendingUsers = BoundedCache<string, NetworkOfVisit>;

export function openPendingUsers(): PendingUsers {
  return new BoundedCache(MAX_NETWORKS);
}

/** Takes the pending users of a stored network, for the statement that writes them. `addPending` returns them if it does not. */
export function takePending(pending: PendingUsers, key: string): NetworkOfVisit {
  const known = pending.get(key);
  if (known === undefined) return { isStored: false, pending: noUsers };
  if (!known.isStored && known.pending.users < MIN_STORED_USERS) return known;
  pending.set(key, { isStored: true, pending: noUsers });
  return { isStored: true, pending: known.pending };
}

export function addPending(pending: PendingUsers, key: string, users: NetworkUsers): void {
  const known = pending.get(key);
  pending.set(key, {
    isStored: known?.isStored ?? false,
    pending: addUsers(known?.pending ?? noUsers, users),
  });
}

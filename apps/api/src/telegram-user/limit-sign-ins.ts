import { addressNetwork } from "@intermission/server/client-address";

export interface SignInLimits {
  /** Shared by all users of an address, such as those of a mobile network. */
  perAddress: number;
  perUser: number;
}

/** Per minute. */
export const defaultSignInLimits: SignInLimits = { perAddress: 600, perUser: 30 };

const windowMs = 60_000;
const mostKeys = 100_000;

export interface SignInLimiter {
  /** Counts one sign-in; returns whether it is within the limit. */
  takeAddress(address: string, nowMs: number): boolean;
  takeUser(userId: string, nowMs: number): boolean;
}

/** Counts in the memory of this node, reset each minute. When the memory limit is reached, all counts are reset. */
export function limitSignIns({ perAddress, perUser }: SignInLimits = defaultSignInLimits): SignInLimiter {
  const counts = new Map<string, number>();
  let endsAtMs = 0;

  function take(key: string, limit: number, nowMs: number): boolean {
    if (nowMs >= endsAtMs || counts.size >= mostKeys) {
      counts.clear();
      endsAtMs = nowMs + windowMs;
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= limit;
  }

  return {
    takeAddress: (address, nowMs) => take(`address ${addressNetwork(address)}`, perAddress, nowMs),
    takeUser: (userId, nowMs) => take(`user ${userId}`, perUser, nowMs),
  };
}

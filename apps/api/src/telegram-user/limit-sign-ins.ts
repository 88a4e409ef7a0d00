import { addressNetwork } from "@intermission/http-server/client-address";

export interface SignInLimits {
  /** Of everybody who shares an address, as the users of a mobile network do. */
  perAddress: number;
  perUser: number;
}

/** In a minute. */
export const defaultSignInLimits: SignInLimits = { perAddress: 600, perUser: 30 };

const windowMs = 60_000;
const mostKeys = 100_000;

export interface SignInLimiter {
  /** Counts one; whether it is still within the limit. */
  takeAddress(address: string, nowMs: number): boolean;
  takeUser(userId: string, nowMs: number): boolean;
}

/** Counts in the memory of this node, anew each minute. Whoever fills the memory makes all counts begin anew. */
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

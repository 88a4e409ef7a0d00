import type { Companion } from "@intermission/publisher/companion";
import type { RewardsPort } from "../scenario/rewards-port.ts";

/** Implements the scenario's rewards port with the companion API. */
export function publisherRewards(companion: Companion): RewardsPort {
  return {
    async createAd(userId) {
      const created = await companion.createCode({ userId });
      return created.outcome === "created"
        ? { outcome: "created", miniappUrl: created.miniappUrl, directLink: created.directLink }
        : { outcome: "unavailable", retryAfterSeconds: created.retryAfterSeconds };
    },

    balance: (userId) => companion.balance(userId),

    spend: (userId, amount, key) => companion.spend({ userId, amount, idempotencyKey: key, note: "seeds" }),

    async lastPaidAt(userId, since) {
      for (let cursor: string | undefined; ; ) {
        const page = await companion.listRewards({ userId, limit: 50, cursor });
        for (const entry of page.entries) {
          const recordedAt = new Date(entry.recordedAt);
          if (recordedAt <= since) return undefined;
          if (entry.event !== null && entry.amount > 0) return recordedAt;
        }
        if (page.next === null) return undefined;
        cursor = page.next;
      }
    },
  };
}

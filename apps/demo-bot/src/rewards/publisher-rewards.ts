import type { RewardsPort } from "../scenario/rewards-port.ts";
import type { PublisherApi } from "./publisher-api.ts";

/** Implements the scenario's rewards port with the companion API. */
export function publisherRewards(api: Pick<PublisherApi, "codes" | "rewards">): RewardsPort {
  return {
    async createAd(userId) {
      const created = await api.codes.create.mutate({ userId });
      return created.outcome === "created"
        ? { outcome: "created", miniappUrl: created.miniappUrl, directLink: created.directLink }
        : { outcome: "unavailable", retryAfterSeconds: created.retryAfterSeconds };
    },

    async balance(userId) {
      return (await api.rewards.balance.query({ userId })).balance;
    },

    async spend(userId, amount, key) {
      const order = { userId, amount, idempotencyKey: key, note: "seeds" };
      // The response may be lost after the purchase was recorded; the idempotency key makes the retry safe.
      return api.rewards.spend.mutate(order).catch(() => api.rewards.spend.mutate(order));
    },

    async lastPaidAt(userId, since) {
      for (let cursor: string | undefined; ; ) {
        const page = await api.rewards.list.query({ userId, limit: 50, ...(cursor !== undefined && { cursor }) });
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

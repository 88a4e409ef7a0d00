import type { PublisherApi } from "./publisher-api.ts";
import type { Rewards } from "./scenario/scenario.ts";

/** The scenario's wishes, put to the companion API. */
export function publisherRewards(api: PublisherApi): Rewards {
  return {
    async createAd(userId) {
      const created = await api.codes.create.mutate({ userId });
      if (created.outcome === "unavailable") return { outcome: "unavailable" };
      return { outcome: "created", miniappUrl: created.miniappUrl, directLink: created.directLink };
    },
    async balance(userId) {
      return (await api.rewards.balance.query({ userId })).balance;
    },
    async spend(userId, amount, key) {
      return api.rewards.spend.mutate({ userId, amount, idempotencyKey: key, note: "seeds" });
    },
    async lastRewardAt(userId) {
      const { entries } = await api.rewards.list.query({ userId, limit: 10 });
      const paid = entries.find((entry) => entry.event !== null && entry.amount > 0);
      return paid && new Date(paid.bookedAt);
    },
  };
}

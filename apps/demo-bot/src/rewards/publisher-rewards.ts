import type { Ads } from "@intermission/publisher";
import type { Companion } from "@intermission/publisher/companion";
import type { RewardsPort } from "../scenario/rewards-port.ts";

/** Called when the user has a code, with the time of the request and how long it took. */
type OnCode = (userId: string, code: string, times: { at: string; ms: number }) => void;

interface Options {
  /** Tasks come from the ad service itself. */
  readonly ads: Pick<Ads, "tasks">;
  readonly onCode?: OnCode;
}

/** Implements the scenario's rewards port with the companion API. */
export function publisherRewards(companion: Companion, { ads, onCode = () => {} }: Options): RewardsPort {
  return {
    async createAd(userId) {
      const startedAt = Date.now();
      const created = await companion.createCode({ userId });
      if (created.outcome === "created")
        onCode(userId, created.code, { at: new Date(startedAt).toISOString(), ms: Date.now() - startedAt });
      return created.outcome === "created"
        ? { outcome: "created", miniappUrl: created.miniappUrl, directLink: created.directLink }
        : { outcome: "unavailable", retryAfterSeconds: created.retryAfterSeconds };
    },

    tasks: (userId, language) => ads.tasks({ userId, language }),

    balance: (userId) => companion.balance(userId),

    spend: (userId, amount, key) => companion.spend({ userId, amount, idempotencyKey: key, note: "seeds" }),

    async lastPaidAt(userId, since) {
      for (let cursor: string | undefined; ; ) {
        const page = await companion.listRewards({ userId, limit: 50, cursor });
        for (const entry of page.entries) {
          const recordedAt = new Date(entry.recordedAt);
          if (recordedAt <= since) return undefined;
          if (entry.event !== null && entry.event !== "task" && entry.amount > 0) return recordedAt;
        }
        if (page.next === null) return undefined;
        cursor = page.next;
      }
    },
  };
}

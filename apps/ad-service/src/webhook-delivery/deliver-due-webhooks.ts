import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { AdDatabase } from "../ad-database.ts";
import { briefCache } from "../bots/brief-cache.ts";
import type { SecretBox } from "../bots/secret-box.ts";
import { type SigningTokens, signingTokens } from "../bots/signing-tokens.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { newAlarm } from "./alarm.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { bookAttempt } from "./book-attempt.ts";
import { type ClaimedDelivery, claimDeliveries, millisecondsToNextDue } from "./claim-deliveries.ts";
import { endpointsInFlight } from "./endpoints-in-flight.ts";
import { finishDeliveries } from "./finish-deliveries.ts";
import { MOST_AT_ONCE, sweepDeliveries } from "./sweep-deliveries.ts";
import { onDeliveriesWoken } from "./wake-deliveries.ts";

export interface WebhookDeliveryDeps {
  database: AdDatabase;
  secretBox: SecretBox;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
  /** False in production: https only. */
  isPlainHttpAllowed: boolean;
  /** CIDR networks that webhooks may reach although they are not public. */
  allowedNetworks: readonly string[];
  limits?: Partial<DeliveryLimits>;
}

export interface DeliveryLimits {
  /** In flight at once, for one endpoint on this node: 1 to 40. */
  perEndpoint: number;
  perNode: number;
  leaseSeconds: number;
  /** An attempt starts only while this much of its lease is left: longer than an exchange can last. */
  leaseLeftSeconds: number;
  pollMs: number;
  sweepMs: number;
  /** How long stopping waits for what is in flight. */
  drainMs: number;
}

const DEFAULT_LIMITS: DeliveryLimits = {
  perEndpoint: 4,
  perNode: 256,
  leaseSeconds: 30,
  leaseLeftSeconds: 16,
  pollMs: 2000,
  sweepMs: 5000,
  drainMs: 8000,
};

/** Sends what is due until it is stopped. Stopping claims no more and waits for what is in flight, `drainMs` at most. */
export function startWebhookDelivery(deps: WebhookDeliveryDeps): { stop(): Promise<void> } {
  const { database, secretBox, log } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const requests = openGuardedRequests({
    isPlainHttpAllowed: deps.isPlainHttpAllowed,
    allowedNetworks: { webhook: deps.allowedNetworks },
  });
  const finishing = finishDeliveries(database);
  const alarm = newAlarm();
  const forgetAlarm = onDeliveriesWoken(alarm.ring);
  const inFlight = endpointsInFlight();
  const active = new Set<Promise<void>>();
  // A busy endpoint's tokens are read once a second, not once a delivery.
  const tokens = briefCache<SigningTokens>({
    load: (botId) => signingTokens({ database, secretBox }, { botId, now: new Date() }),
    ...{ maxAgeMs: 1000, maxEntries: 10_000 },
  });
  const giveUp = new AbortController();
  const { signal } = giveUp;
  let sweepAt = 0;
  let isStopping = false;

  async function deliver(claim: ClaimedDelivery, leaseEndsAt: number): Promise<void> {
    const mayStart = () => !isStopping && leaseEndsAt - performance.now() >= limits.leaseLeftSeconds * 1000;
    inFlight.add(claim.botId);
    const outcome = await attemptDelivery({ requests, tokensOf: tokens.get, log, mayStart, signal }, claim);
    // The endpoint is free again; the booking has the rest of the lease.
    inFlight.remove(claim.botId);
    alarm.ring();
    const isTooLate = () => performance.now() > leaseEndsAt || signal.aborted;
    await bookAttempt({ database, finishing, log, isTooLate }, claim, outcome);
  }

  async function sweepNowAndThen(): Promise<void> {
    if (performance.now() < sweepAt) return;
    const { returned, unknown, unheld } = await sweepDeliveries(database);
    if (returned + unknown > 0) log.warn({ returned, unknown }, "deliveries of a node that died were taken back");
    const hasMore = Math.max(returned + unknown, unheld) >= MOST_AT_ONCE;
    sweepAt = performance.now() + (hasMore ? 0 : limits.sweepMs);
  }

  async function turn(): Promise<void> {
    await sweepNowAndThen();
    // The embedded store blocks while it works: what arrived meanwhile frees its endpoints first, so that claims stay batches.
    await nextTurn();
    const { perEndpoint, leaseSeconds, pollMs } = limits;
    // Stamped before asking, so never later than the lease that the database's clock gives.
    const leaseEndsAt = performance.now() + leaseSeconds * 1000;
    const room = { inFlight: inFlight.counts, perEndpoint, limit: limits.perNode - inFlight.total, leaseSeconds };
    const claims = room.limit > 0 ? await claimDeliveries(database, room) : [];
    for (const claim of claims) {
      const work = deliver(claim, leaseEndsAt).finally(() => active.delete(work));
      active.add(work);
    }
    if (claims.length > 0) return;
    const nextDueMs = alarm.hasRung() ? 0 : ((await millisecondsToNextDue(database)) ?? pollMs);
    await alarm.wait(Math.min(pollMs, nextDueMs));
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        await turn();
      } catch (error) {
        log.error({ err: error }, "deliveries could not be claimed; trying again");
        await sleep(1000);
      }
    }
  }

  const running = run();
  return {
    async stop() {
      isStopping = true;
      alarm.ring();
      await running;
      forgetAlarm();
      const timer = setTimeout(() => giveUp.abort(new Error("stopping")), limits.drainMs);
      await Promise.all(active);
      clearTimeout(timer);
      await requests.close();
    },
  };
}

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { AdDatabase } from "../ad-database.ts";
import { rememberSigningTokens } from "../bots/remember-signing-tokens.ts";
import type { SecretBox } from "../bots/secret-box.ts";
import type { SigningTokens } from "../bots/signing-tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { newAlarm } from "./alarm.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { bookAttempt } from "./book-attempt.ts";
import { type ClaimedDelivery, claimDeliveries, millisecondsToNextDue } from "./claim-deliveries.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { finishDeliveries } from "./finish-deliveries.ts";
import { logEndpointChange } from "./log-endpoint-change.ts";
import { openSlots } from "./slots.ts";
import { startDeliveryUpkeep } from "./upkeep-deliveries.ts";
import { onDeliveriesWoken, shareWakeUps } from "./wake-deliveries.ts";

export interface WebhookDeliveryDeps {
  database: AdDatabase;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: DeliveryLog;
  metrics?: DeliveryMetrics;
  limits?: Partial<DeliveryLimits>;
}

export interface DeliveryLimits {
  /** In flight at once on this node; an endpoint's own limit holds over all nodes and stands in its row. */
  perNode: number;
  /** Claimed beyond that, ready to go when one ends: else each would wait for a claim (a third of the pace at 20 ms). */
  ahead: number;
  leaseSeconds: number;
  /** An attempt starts only while this much of its lease is left: longer than an exchange can last. */
  leaseLeftSeconds: number;
  pollMs: number;
  sweepMs: number;
  /** How long stopping waits for what is in flight. */
  drainMs: number;
}

const DEFAULT_LIMITS: DeliveryLimits = {
  perNode: 256,
  ahead: 96,
  leaseSeconds: 30,
  leaseLeftSeconds: 16,
  pollMs: 2000,
  sweepMs: 5000,
  drainMs: 8000,
};

/** Sends what is due until it is stopped. Stopping claims no more and waits for what is in flight, `drainMs` at most. */
export function startWebhookDelivery(deps: WebhookDeliveryDeps): { stop(): Promise<void> } {
  const { database, secretBox, requests, log, metrics } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const finishing = finishDeliveries(database, (change) => logEndpointChange(log, change));
  const alarm = newAlarm();
  const forgetAlarm = onDeliveriesWoken(alarm.ring);
  const sharing = shareWakeUps(database, alarm.ring);
  const upkeep = startDeliveryUpkeep(database, { log, sweepMs: limits.sweepMs, onReleased: alarm.ring });
  const active = new Set<Promise<void>>();
  const slots = openSlots(limits.perNode);
  let claimed = 0;
  const readTokens = rememberSigningTokens({ database, secretBox });
  const giveUp = new AbortController();
  const { signal } = giveUp;
  let isStopping = false;

  type Tokens = Promise<ReadonlyMap<string, SigningTokens>>;
  async function deliver(claim: ClaimedDelivery, tokens: Tokens, leaseEndsAt: number): Promise<void> {
    await slots.take();
    const mayStart = () => !isStopping && leaseEndsAt - performance.now() >= limits.leaseLeftSeconds * 1000;
    const tokensOf = async (botId: string) => (await tokens).get(botId);
    const outcome = await attemptDelivery({ requests, tokensOf, log, mayStart, signal }, claim);
    if (outcome.outcome === "finished") metrics?.attemptFinished(outcome.finished);
    // This node may take the next one; the booking has the rest of the lease, and frees the endpoint.
    claimed -= 1;
    slots.free();
    alarm.ring();
    const isTooLate = () => performance.now() > leaseEndsAt || signal.aborted;
    await bookAttempt({ database, finishing, log, isTooLate }, claim, outcome);
    alarm.ring();
  }

  async function turn(): Promise<void> {
    // The embedded store blocks while it works: what arrived meanwhile frees its endpoints first, so that claims stay batches.
    await nextTurn();
    const { leaseSeconds, pollMs } = limits;
    // Stamped before asking, so never later than the lease that the database's clock gives.
    const leaseEndsAt = performance.now() + leaseSeconds * 1000;
    const limit = limits.perNode + limits.ahead - claimed;
    const claims = limit > 0 ? await claimDeliveries(database, { limit, leaseSeconds }) : [];
    claimed += claims.length;
    const tokens = readTokens(claims.map(({ botId }) => botId));
    for (const claim of claims) {
      const work = deliver(claim, tokens, leaseEndsAt).finally(() => active.delete(work));
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
      slots.open();
      alarm.ring();
      await Promise.all([running, upkeep.stop()]);
      forgetAlarm();
      const timer = setTimeout(() => giveUp.abort(new Error("stopping")), limits.drainMs);
      await Promise.all(active);
      clearTimeout(timer);
      await (await sharing)();
    },
  };
}

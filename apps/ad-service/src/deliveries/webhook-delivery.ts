import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";
import pLimit from "p-limit";
import { cachedSigningTokens, type SigningTokenCache, type SigningTokens } from "../bots/tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { newAlarm } from "./alarm.ts";
import { type AttemptOutcome, attemptDelivery, notMadeAfterOwnFault } from "./attempt-delivery.ts";
import { type ClaimedDelivery, claimDeliveries, readNextDue, shareWakeUps } from "./claim-deliveries.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { startDeliveryUpkeep } from "./delivery-upkeep.ts";
import { logHealthChange } from "./endpoint-health.ts";
import { type ClaimedEvent, type Deliveries, type DeliveryLog, LEASE_SECONDS } from "./enqueue-webhook.ts";
import { type LoopState, loopStates, stateAfterClaim, stateAfterEmptyClaim } from "./loop-state.ts";
import { finishDeliveries, recordAttempt } from "./record-attempts.ts";

export interface WebhookDeliveryDeps {
  database: Database;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: DeliveryLog;
  metrics?: DeliveryMetrics;
  limits?: Partial<DeliveryLimits>;
  now?: () => Date;
}

export interface DeliveryLimits {
  /** Requests in flight on this node. An endpoint's own limit applies over all nodes and is stored in its row. */
  perNode: number;
  /** Claims beyond that, which start when a request ends; without them each waits for a claim (a third of the rate at 20 ms). */
  prefetch: number;
  /** An attempt starts only while this much of its lease is left: longer than an exchange can last. */
  leaseLeftSeconds: number;
  pollMs: number;
  sweepMs: number;
  /** How long a stop waits for requests in flight. */
  drainMs: number;
}

const DEFAULT_LIMITS: DeliveryLimits = {
  perNode: 256,
  prefetch: 96,
  leaseLeftSeconds: 16,
  pollMs: 2000,
  sweepMs: 5000,
  drainMs: 8000,
};

/** After a claim that took too long, or a stop: claiming the same row again immediately would be a busy loop. */
const TOO_LATE_DELAY_SECONDS = 1;

export interface WebhookDelivery extends Deliveries {
  /** Sends due deliveries until `stop`. Before `start`, `sendNew` claims nothing. */
  start(): void;
  /** Stops claiming and waits at most `drainMs` for requests in flight. */
  stop(): Promise<void>;
}

/**
 * The sending side of this node. The statement that makes new events claims them, and they are sent immediately. A loop
 * claims waiting deliveries: retries, replays, and new events for which the endpoint or this node had no capacity.
 */
export function openWebhookDelivery(deps: WebhookDeliveryDeps): WebhookDelivery {
  const { database, secretBox, requests, log, metrics, now = () => new Date() } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const finishing = finishDeliveries(database, (botId, change) => logHealthChange(log, botId, change));
  const tokenCache: SigningTokenCache = { database, secretBox, now, kept: new Map() };
  const alarm = newAlarm();
  /** In the order of the calls. A stop lifts the limit: it must not wait for a slot. */
  const withSlot = pLimit(limits.perNode);
  const active = new Set<Promise<void>>();
  const giveUp = new AbortController();
  const { signal } = giveUp;
  let parts: { running: Promise<void>; stop(): Promise<void>; tellOthers(): void } | undefined;
  let isStopping = false;
  /** Claims whose attempt has not ended, plus slots reserved for statements that are still running. */
  let claimed = 0;
  let state: LoopState = "node-full";
  /** Increases whenever an attempt frees capacity. */
  let freed = 0;

  function capacityIsFreed(): void {
    freed += 1;
    if (loopStates[state].wakesOnFreedCapacity) alarm.ring();
  }

  /** Starts only while the lease lasts long enough for a whole exchange and the node is not stopping. Never throws. */
  async function attempt(
    claim: ClaimedDelivery,
    tokensByBot: Promise<ReadonlyMap<string, SigningTokens>>,
    leaseEndsAt: number,
  ): Promise<AttemptOutcome> {
    let tokens: SigningTokens | undefined;
    try {
      tokens = (await tokensByBot).get(claim.botId);
    } catch (error) {
      return notMadeAfterOwnFault({ log, signal }, claim, error);
    }
    if (tokens === undefined) return { outcome: "not-made", to: "held", delaySeconds: 0 };
    if (isStopping || leaseEndsAt - performance.now() < limits.leaseLeftSeconds * 1000)
      return { outcome: "not-made", to: "waiting", delaySeconds: TOO_LATE_DELAY_SECONDS };
    return attemptDelivery({ requests, log, signal, now }, claim, tokens);
  }

  async function deliver(
    claim: ClaimedDelivery,
    tokens: Promise<ReadonlyMap<string, SigningTokens>>,
    leaseEndsAt: number,
  ): Promise<void> {
    const outcome = await withSlot(() => attempt(claim, tokens, leaseEndsAt));
    if (outcome.outcome === "finished") metrics?.attemptFinished(outcome.finished);
    // The node's slot is free now. The recording may take the rest of the lease; it frees the endpoint's capacity.
    claimed -= 1;
    capacityIsFreed();
    const isTooLate = () => performance.now() > leaseEndsAt || signal.aborted;
    await recordAttempt({ database, finishing, log, isTooLate }, claim, outcome);
    capacityIsFreed();
  }

  function deliverAll(claims: readonly ClaimedDelivery[], leaseEndsAt: number): void {
    if (claims.length === 0) return;
    claimed += claims.length;
    const botIds = claims.map(({ botId }) => botId);
    const tokens = cachedSigningTokens(tokenCache, botIds);
    for (const claim of claims) {
      const work = deliver(claim, tokens, leaseEndsAt).finally(() => active.delete(work));
      active.add(work);
    }
  }

  // Computed before the query, so never later than the end of the lease by the database's clock.
  const newLease = () => performance.now() + LEASE_SECONDS * 1000;

  async function claimDue(): Promise<void> {
    // Answers that came meanwhile free capacity first, so that claims stay batches.
    await nextTurn();
    const freedBefore = freed;
    const leaseEndsAt = newLease();
    const limit = limits.perNode + limits.prefetch - claimed;
    const claims = limit > 0 ? await claimDeliveries(database, { limit, leaseSeconds: LEASE_SECONDS }) : [];
    state = stateAfterClaim(state, { claimed: claims.length, limit });
    deliverAll(claims, leaseEndsAt);
    if (claims.length > 0) return;
    let waitMs = 0;
    if (!alarm.hasRung()) {
      const next = await readNextDue(database);
      state = stateAfterEmptyClaim(state, next);
      // Capacity that was freed during the read may have rung before anything waited for it.
      if (loopStates[state].wakesOnFreedCapacity && freed !== freedBefore) return;
      waitMs = Math.min(limits.pollMs, next.milliseconds ?? limits.pollMs);
    }
    await alarm.wait(waitMs);
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        await claimDue();
      } catch (error) {
        log.error({ err: error }, "deliveries could not be claimed; trying again");
        await sleep(1000);
      }
    }
  }

  function wake(): void {
    alarm.ring();
    parts?.tellOthers();
  }

  return {
    wake,

    async sendNew(most, make) {
      const isSending = parts !== undefined && !isStopping && loopStates[state].claimsNewEvents;
      const free = isSending ? Math.min(most, Math.max(0, limits.perNode - claimed)) : 0;
      const leaseEndsAt = newLease();
      claimed += free;
      try {
        const { result, areWaiting, claimed: claimedNow } = await make(free);
        deliverAll(claimedNow.map(firstClaim), leaseEndsAt);
        if (areWaiting) wake();
        return result;
      } finally {
        claimed -= free;
        capacityIsFreed();
      }
    },

    start() {
      const sharing = shareWakeUps(database, alarm.ring);
      const upkeep = startDeliveryUpkeep(database, { log, sweepMs: limits.sweepMs, onReleased: alarm.ring });
      parts = {
        running: run(),
        tellOthers: sharing.tell,
        async stop() {
          await upkeep.stop();
          await sharing.stop();
        },
      };
    },

    async stop() {
      isStopping = true;
      withSlot.concurrency = Number.POSITIVE_INFINITY;
      alarm.ring();
      await Promise.all([parts?.running, parts?.stop()]);
      const timer = setTimeout(() => giveUp.abort(new Error("stopping")), limits.drainMs);
      while (active.size > 0) await Promise.all(active);
      clearTimeout(timer);
      // Claims made from now on are released immediately, or expire with their lease.
      giveUp.abort(new Error("stopped"));
    },
  };
}

/** The claim of a new event, made by the statement that made the event. */
function firstClaim({ botId, eventId, body, url, deliveryMode }: ClaimedEvent): ClaimedDelivery {
  return { botId, eventId, body, url, deliveryMode, attempt: 1, fence: 1, scheduleStep: 0, isReplay: false };
}

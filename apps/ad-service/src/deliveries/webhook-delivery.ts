import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { SecretBox } from "@intermission/server/secret-box";
import { continueTrace } from "@intermission/server/trace-context";
import pLimit from "p-limit";
import { cachedSigningTokens, type SigningTokenCache, type SigningTokens } from "../bots/tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { newAlarm } from "./alarm.ts";
import { type AttemptOutcome, attemptDelivery, notMadeAfterOwnFault } from "./attempt-delivery.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-deliveries.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { startDeliveryUpkeep } from "./delivery-upkeep.ts";
import { logHealthChange } from "./endpoint-health.ts";
import { type ClaimedEvent, type Deliveries, type DeliveryLog, LEASE_SECONDS } from "./enqueue-webhook.ts";
import { type LoopState, loopStates, stateAfterClaim, stateAfterEmptyClaim } from "./loop-state.ts";
import { readNextDue } from "./next-due.ts";
import { finishDeliveries, recordAttempt } from "./record-attempts.ts";
import { shareWakeUps } from "./share-wake-ups.ts";

interface WebhookDeliveryDeps {
  database: Database;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: DeliveryLog;
  metrics?: DeliveryMetrics;
  limits?: Partial<DeliveryLimits>;
  now?: () => Date;
  /** How often the database's clock has jumped. */
  clockJumps?: () => number;
}

export interface DeliveryLimits {
  /** Requests in flight on this node. An endpoint's own limit applies over all nodes and is stored in its row. */
  perNode: number;
  /** Further claims, which start as soon as a request ends. Without them a third of the rate is lost at 20 ms per request. */
  prefetch: number;
  /** An attempt starts only while this much of its lease is left: longer than an exchange can last. */
  leaseLeftSeconds: number;
  pollMs: number;
  sweepMs: number;
  /** After a restart of the database all nodes connect again within this time. */
  goneMs: number;
  /** How long a stop waits for requests in flight. */
  drainMs: number;
}

const DEFAULT_LIMITS: DeliveryLimits = {
  perNode: 256,
  prefetch: 96,
  leaseLeftSeconds: 16,
  pollMs: 2000,
  sweepMs: 5000,
  goneMs: 2000,
  drainMs: 8000,
};

/** After a claim that took too long, or a stop: claiming the same row again immediately would be a busy loop. */
const TOO_LATE_DELAY_SECONDS = 1;
/** After a claim that failed. */
const CLAIM_AGAIN_MS = 1000;

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
  const node = openSendingNode(deps);
  const { alarm, limits } = node;
  let parts: { loop: BackgroundLoop; stop(): Promise<void>; tellOthers(): void } | undefined;

  function wake(): void {
    alarm.ring();
    parts?.tellOthers();
  }

  return {
    wake,

    async sendNew(maxEvents, make) {
      const isSending = parts !== undefined && !node.isStopping && loopStates[node.state].claimsNewEvents;
      const free = isSending ? Math.min(maxEvents, Math.max(0, limits.perNode - node.claimed)) : 0;
      const leaseEndsAt = newLease();
      node.claimed += free;
      try {
        const { result, areWaiting, claimed: claimedNow } = await make(free);
        deliverAll(node, claimedNow.map(firstClaim), leaseEndsAt);
        if (areWaiting) wake();
        return result;
      } finally {
        node.claimed -= free;
        capacityIsFreed(node);
      }
    },

    start() {
      const { database, log } = node;
      const sharing = shareWakeUps(database, alarm.ring);
      const upkeep = startDeliveryUpkeep(database, {
        log,
        sweepMs: limits.sweepMs,
        goneMs: limits.goneMs,
        clockJumps: node.clockJumps,
        onReleased: alarm.ring,
      });
      const loop = startLoop({
        everyMs: CLAIM_AGAIN_MS,
        round: () => claimDue(node),
        onFault: (error) => log.error({ err: error }, "deliveries could not be claimed; trying again"),
      });
      parts = {
        loop,
        tellOthers: sharing.tell,
        async stop() {
          await Promise.all([loop.stop(), upkeep.stop()]);
          await sharing.stop();
        },
      };
    },

    async stop() {
      node.isStopping = true;
      node.withSlot.concurrency = Number.POSITIVE_INFINITY;
      alarm.ring();
      await parts?.stop();
      const timer = setTimeout(() => node.giveUp.abort(new Error("stopping")), limits.drainMs);
      while (node.active.size > 0) await Promise.all(node.active);
      clearTimeout(timer);
      // Claims made from now on are released immediately, or expire with their lease.
      node.giveUp.abort(new Error("stopped"));
    },
  };
}

/** What the sending side of this node has under way. */
function openSendingNode({
  database,
  secretBox,
  requests,
  log,
  metrics,
  now = () => new Date(),
  clockJumps = () => 0,
  ...deps
}: WebhookDeliveryDeps) {
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const tokenCache: SigningTokenCache = { database, secretBox, now, kept: new Map() };
  return {
    database,
    requests,
    log,
    metrics,
    now,
    clockJumps,
    limits,
    tokenCache,
    finishing: finishDeliveries(database, (botId, change) => logHealthChange(log, botId, change)),
    alarm: newAlarm(),
    /** In the order of the calls. A stop lifts the limit: it must not wait for a slot. */
    withSlot: pLimit(limits.perNode),
    active: new Set<Promise<void>>(),
    giveUp: new AbortController(),
    isStopping: false,
    /** Claims whose attempt has not ended, plus slots reserved for statements that are still running. */
    claimed: 0,
    state: "node-full" as LoopState,
    /** Increases whenever an attempt frees capacity. */
    freed: 0,
  };
}

type SendingNode = ReturnType<typeof openSendingNode>;

// Computed before the query, so never later than the end of the lease by the database's clock.
const newLease = () => performance.now() + LEASE_SECONDS * 1000;

function capacityIsFreed(node: SendingNode): void {
  node.freed += 1;
  if (loopStates[node.state].wakesOnFreedCapacity) node.alarm.ring();
}

/** One round of the loop: claims what is due; without any, waits until something is due or the alarm rings. */
async function claimDue(node: SendingNode): Promise<number> {
  const { database, limits, alarm } = node;
  // Answers that came meanwhile free capacity first, so that claims stay batches.
  await nextTurn();
  const freedBefore = node.freed;
  const leaseEndsAt = newLease();
  const limit = limits.perNode + limits.prefetch - node.claimed;
  const claims = limit > 0 ? await claimDeliveries(database, { limit, leaseSeconds: LEASE_SECONDS }) : [];
  node.state = stateAfterClaim(node.state, { claimed: claims.length, limit });
  deliverAll(node, claims, leaseEndsAt);
  if (claims.length > 0) return 0;
  let waitMs = 0;
  if (!alarm.hasRung()) {
    const next = await readNextDue(database);
    node.state = stateAfterEmptyClaim(node.state, next);
    // Capacity that was freed during the read may have rung before anything waited for it.
    if (loopStates[node.state].wakesOnFreedCapacity && node.freed !== freedBefore) return 0;
    waitMs = Math.min(limits.pollMs, next.milliseconds ?? limits.pollMs);
  }
  await alarm.wait(waitMs);
  return 0;
}

function deliverAll(node: SendingNode, claims: readonly ClaimedDelivery[], leaseEndsAt: number): void {
  if (claims.length === 0) return;
  node.claimed += claims.length;
  const botIds = claims.map(({ botId }) => botId);
  const tokens = cachedSigningTokens(node.tokenCache, botIds);
  for (const claim of claims) {
    const work = continueTrace(claim.traceparent, spanOf(claim), () =>
      deliver(node, claim, { tokens, leaseEndsAt }),
    ).finally(() => node.active.delete(work));
    node.active.add(work);
  }
}

function spanOf({ botId, eventId, attempt }: ClaimedDelivery) {
  const attributes = {
    "intermission.bot_id": botId,
    "intermission.event_id": eventId,
    "intermission.attempt": attempt,
  };
  return { name: "deliver webhook", attributes };
}

interface Lease {
  readonly tokens: Promise<ReadonlyMap<string, SigningTokens>>;
  readonly leaseEndsAt: number;
}

async function deliver(node: SendingNode, claim: ClaimedDelivery, lease: Lease): Promise<void> {
  const { database, finishing, log, giveUp } = node;
  const outcome = await node.withSlot(() => attempt(node, claim, lease));
  if (outcome.outcome === "finished") node.metrics?.attemptFinished(outcome.finished);
  // The node's slot is free now. The recording may take the rest of the lease; it frees the endpoint's capacity.
  node.claimed -= 1;
  capacityIsFreed(node);
  const isTooLate = () => performance.now() > lease.leaseEndsAt || giveUp.signal.aborted;
  await recordAttempt({ database, finishing, log, isTooLate }, claim, outcome);
  capacityIsFreed(node);
}

/** Starts only while the lease lasts long enough for a whole exchange and the node is not stopping. Never throws. */
async function attempt(node: SendingNode, claim: ClaimedDelivery, lease: Lease): Promise<AttemptOutcome> {
  const { requests, log, now, limits } = node;
  const { signal } = node.giveUp;
  let tokens: SigningTokens | undefined;
  try {
    tokens = (await lease.tokens).get(claim.botId);
  } catch (error) {
    return notMadeAfterOwnFault({ log, signal }, claim, error);
  }
  if (tokens === undefined) return { outcome: "not-made", to: "held", delaySeconds: 0 };
  if (node.isStopping || lease.leaseEndsAt - performance.now() < limits.leaseLeftSeconds * 1000)
    return { outcome: "not-made", to: "waiting", delaySeconds: TOO_LATE_DELAY_SECONDS };
  return attemptDelivery({ requests, log, signal, now }, claim, tokens);
}

/** The claim of a new event, made by the statement that made the event. */
function firstClaim(event: ClaimedEvent): ClaimedDelivery {
  return { ...event, attempt: 1, fence: 1, scheduleStep: 0, isReplay: false };
}

import { setTimeout as sleep } from "node:timers/promises";
import type { AdDatabase } from "../ad-database.ts";
import type { SecretBox } from "../bots/secret-box.ts";
import { type SigningTokens, signingTokens } from "../bots/signing-tokens.ts";
import { openGuardedRequests } from "../outbound/guarded-request.ts";
import { newAlarm } from "./alarm.ts";
import { type AttemptOutcome, attemptDelivery } from "./attempt-delivery.ts";
import { type ClaimedDelivery, claimDeliveries, millisecondsToNextDue } from "./claim-deliveries.ts";
import { type FinishedAttempt, finishDeliveries } from "./finish-deliveries.ts";
import { releaseDeliveries } from "./release-deliveries.ts";
import { sweepDeliveries } from "./sweep-deliveries.ts";
import { onDeliveriesWoken } from "./wake-deliveries.ts";

export interface WebhookDeliveryDeps {
  database: AdDatabase;
  secretBox: SecretBox;
  log: DeliveryLogger;
  /** False in production: https only. */
  isPlainHttpAllowed: boolean;
  /** CIDR networks that webhooks may reach although they are not public. */
  allowedNetworks: readonly string[];
  limits?: Partial<DeliveryLimits>;
}

export interface DeliveryLogger {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
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
  const inFlight = new Map<string, number>();
  const active = new Set<Promise<void>>();
  const drained = new AbortController();
  let total = 0;
  let sweepAt = 0;
  let isStopping = false;

  const occupy = (botId: string, change: 1 | -1) => {
    total += change;
    const count = (inFlight.get(botId) ?? 0) + change;
    if (count === 0) inFlight.delete(botId);
    else inFlight.set(botId, count);
    if (change === -1) alarm.ring();
  };

  async function deliver(delivery: ClaimedDelivery, leaseEndsAt: number, tokensOf: TokensOf): Promise<void> {
    const mayStart = () => !isStopping && leaseEndsAt - performance.now() >= limits.leaseLeftSeconds * 1000;
    const outcome = await attemptDelivery({ requests, tokensOf, log, mayStart, signal: drained.signal }, delivery);
    // The endpoint is free again; the booking has the rest of the lease.
    occupy(delivery.botId, -1);
    await book(delivery, outcome, leaseEndsAt);
  }

  async function book(delivery: ClaimedDelivery, outcome: AttemptOutcome, leaseEndsAt: number): Promise<void> {
    const { botId, eventId } = delivery;
    while (true) {
      try {
        if (outcome.outcome === "not-made") return await releaseDeliveries(database, [delivery], outcome);
        return reportFinished(outcome.finished, await finishing.submit(outcome.finished), log);
      } catch (error) {
        // Left alone, the lease runs out and the event is sent once more: try while it lasts.
        if (performance.now() > leaseEndsAt || drained.signal.aborted) {
          return log.error({ err: error, botId, eventId }, "an attempt could not be booked; its lease will run out");
        }
        await sleep(500);
      }
    }
  }

  async function turn(): Promise<void> {
    if (performance.now() >= sweepAt) {
      const { returned, unknown } = await sweepDeliveries(database);
      if (returned + unknown > 0) log.warn({ returned, unknown }, "deliveries of a node that died were taken back");
      sweepAt = performance.now() + limits.sweepMs;
    }
    // Stamped before asking, so never later than the lease that the database's clock gives.
    const leaseEndsAt = performance.now() + limits.leaseSeconds * 1000;
    const { perEndpoint, perNode, leaseSeconds, pollMs } = limits;
    const limit = perNode - total;
    const claims = limit > 0 ? await claimDeliveries(database, { inFlight, perEndpoint, limit, leaseSeconds }) : [];
    const tokensOf = rememberTokens({ database, secretBox });
    for (const claim of claims) {
      occupy(claim.botId, 1);
      const work = deliver(claim, leaseEndsAt, tokensOf).finally(() => active.delete(work));
      active.add(work);
    }
    if (claims.length === 0) await alarm.wait(Math.min(pollMs, (await millisecondsToNextDue(database)) ?? pollMs));
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
      const timer = setTimeout(() => drained.abort(new Error("stopping")), limits.drainMs);
      await Promise.all(active);
      clearTimeout(timer);
      await requests.close();
    },
  };
}

type TokensOf = (botId: string) => Promise<SigningTokens | undefined>;

/** For the deliveries of one claim: each bot's tokens are read once. */
function rememberTokens(deps: { database: AdDatabase; secretBox: SecretBox }): TokensOf {
  const reads = new Map<string, Promise<SigningTokens | undefined>>();
  return (botId) => {
    const known = reads.get(botId);
    if (known) return known;
    const read = signingTokens(deps, { botId, now: new Date() });
    reads.set(botId, read);
    return read;
  };
}

function reportFinished(finished: FinishedAttempt, isOurs: boolean, log: DeliveryLogger): void {
  const { botId, eventId, attempt, state, status, errorClass } = finished;
  if (!isOurs) log.warn({ botId, eventId, attempt }, "an attempt ended after another node had claimed its delivery");
  else if (state === "failed" || state === "unknown") {
    log.warn({ botId, eventId, attempt, state, status, errorClass }, "a webhook will not be sent again by itself");
  }
}

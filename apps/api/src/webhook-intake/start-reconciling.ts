import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { Logger } from "@intermission/server/logger";
import type { AdServiceClient } from "../ad-service-client.ts";
import type { Payout } from "../bots/bot-records.ts";
import { type Reconciled, type ReconcileOptions, reconcileEvents } from "./reconcile-events.ts";

/** What the reconciliation of one bot needs. */
interface ReconciledBot {
  readonly id: string;
  readonly payout: Payout;
  readonly adService: Pick<AdServiceClient, "listEvents">;
}

export interface ReconcilingOptions extends Pick<ReconcileOptions, "database" | "settleAfterSeconds"> {
  /** The bots now: a bot that joins is reconciled within a second. */
  bots: () => readonly ReconciledBot[];
  logger: Pick<Logger, "debug" | "info" | "isLevelEnabled" | "warn" | "error">;
  now?: () => Date;
  onRecorded: () => void;
  /** Called after each round of a bot, whatever its outcome. */
  onRound?: (result: Reconciled, botId: string) => void;
}

/** A bot whose list is slow must not delay the others; the ad service must not be flooded. */
const MAX_AT_ONCE = 4;
const LOOK_FOR_BOTS_MS = 1000;

/** When a bot is reconciled next, and why so soon. */
interface Rhythm {
  readonly dueAt: number;
  /** Rounds that could not read the list, one after the other. */
  readonly failures: number;
  readonly isQuickUntil: number;
}

const EACH_MS = 60_000;
const QUICK_MS = 1000;
const QUICK_FOR_MS = 10_000;
const NOT_OFFERED_MS = 6 * 3_600_000;

/**
 * A round each minute. While webhooks do not arrive, one each second: in the first ten seconds that the list can be read, and
 * for ten after a round that found what no webhook had delivered, since the service sends to an address that failed only after
 * a pause. While the list cannot be read: after 1, 2, 4 … seconds.
 */
export function nextRhythm(
  before: Rhythm | undefined,
  { outcome, recorded }: Pick<Reconciled, "outcome" | "recorded">,
  now: number,
): Rhythm {
  const isNew = before === undefined || before.failures > 0;
  const isQuickUntil = isNew || recorded > 0 ? now + QUICK_FOR_MS : before.isQuickUntil;
  switch (outcome) {
    case "done":
      return { dueAt: now + (now < isQuickUntil ? QUICK_MS : EACH_MS), failures: 0, isQuickUntil };
    case "more":
      return { dueAt: now + QUICK_MS, failures: 0, isQuickUntil };
    case "not-offered":
      // A service of another vendor: it may add the endpoint later.
      return { dueAt: now + NOT_OFFERED_MS, failures: 0, isQuickUntil };
    case "unavailable": {
      const failures = (before?.failures ?? 0) + 1;
      return { dueAt: now + Math.min(EACH_MS, QUICK_MS * 2 ** Math.min(failures - 1, 10)), failures, isQuickUntil };
    }
  }
}

/** Reconciles each bot immediately and then in its rhythm; a stop also ends the requests under way. */
export function startReconciling(options: ReconcilingOptions): BackgroundLoop {
  const { bots, logger, now: clock = () => new Date(), onRecorded, onRound = () => {} } = options;
  const rhythms = new Map<string, Rhythm>();
  const dueAt = (botId: string) => rhythms.get(botId)?.dueAt ?? 0;
  const running = new Map<string, Promise<void>>();

  async function reconcile({ id: botId, payout, adService }: ReconciledBot, stopping: AbortSignal): Promise<void> {
    const { database, settleAfterSeconds } = options;
    const reconcileOptions = { database, adService, botId, payout, settleAfterSeconds, stopping, logger };
    const result = await reconcileEvents(reconcileOptions, clock()).catch((cause: unknown): Reconciled => {
      logger.error({ err: cause, botId }, "reconciliation failed");
      const nothing = { recorded: 0, unreadable: 0, hasRestarted: false };
      return { outcome: "unavailable", ...nothing, detail: "an error of our own" };
    });
    const rhythm = nextRhythm(rhythms.get(botId), result, performance.now());
    rhythms.set(botId, rhythm);
    if (result.recorded > 0) onRecorded();
    onRound(result, botId);
    report(logger, botId, result, rhythm);
  }

  function startDue(stopping: AbortSignal): void {
    if (stopping.aborted) return;
    const now = performance.now();
    const served = bots();
    // The one that waits longest comes first, so that none is left out when there are many.
    const due = served
      .filter(({ id }) => !running.has(id) && dueAt(id) <= now)
      .sort((a, b) => dueAt(a.id) - dueAt(b.id));
    for (const bot of due.slice(0, MAX_AT_ONCE - running.size)) {
      const end = () => {
        running.delete(bot.id);
        startDue(stopping);
      };
      const onFault = (error: unknown) => logger.error({ err: error }, "reconciliation could not be reported");
      running.set(bot.id, reconcile(bot, stopping).catch(onFault).then(end));
    }
  }

  const loop = startLoop({
    everyMs: LOOK_FOR_BOTS_MS,
    async round(stopping) {
      const ids = new Set(bots().map(({ id }) => id));
      for (const id of rhythms.keys()) if (!ids.has(id)) rhythms.delete(id);
      startDue(stopping);
      return LOOK_FOR_BOTS_MS;
    },
    onFault: (error) => logger.error({ err: error }, "reconciliation could not be started"),
  });
  return {
    health: loop.health,
    async stop() {
      await loop.stop();
      await Promise.all(running.values());
    },
  };
}

function report(
  logger: ReconcilingOptions["logger"],
  botId: string,
  { outcome, recorded, unreadable, hasRestarted, detail }: Reconciled,
  { failures, dueAt }: Rhythm,
): void {
  if (recorded > 0) logger.info({ botId, recorded }, "recorded events that no webhook delivered");
  if (unreadable > 0)
    logger.warn({ botId, unreadable }, "the ad service lists events of a kind unknown to this version");
  if (hasRestarted)
    logger.warn({ botId }, "the ad service's list was read from its start: it no longer contains our position");
  // Not each of the soon repeated ones.
  if (outcome === "unavailable" && (failures === 1 || dueAt - performance.now() > EACH_MS / 2))
    logger.warn(
      { botId, detail },
      "the ad service lists no events now: check AD_SERVICE_URL and the bot's API token if it goes on",
    );
}

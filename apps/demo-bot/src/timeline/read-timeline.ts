import type { Ads } from "@intermission/publisher";
import { type AttemptSources, type EventAttempts, readAttempts } from "../webhooks/attempts.ts";
import type { ShownWebhook } from "../webhooks/facts.ts";
import type { Step } from "./steps.ts";
import type { ViewRecords } from "./view-records.ts";

export interface Timeline {
  /** Undefined before the first view. */
  readonly code: string | undefined;
  /** Oldest first. */
  readonly steps: readonly Step[];
}

export interface TimelineSources extends AttemptSources {
  readonly views: ViewRecords;
  readonly ads: Pick<Ads, "code" | "attempts">;
  /** What the publisher's ledger made of webhooks; undefined where the demo has no ledger. */
  readonly receipts: ((userId: string) => Promise<readonly ShownWebhook[]>) | undefined;
}

/** The user's latest view: what the demo saw of it, what the ad service recorded and sent, and what the ledger paid. */
export async function readTimeline(sources: TimelineSources, userId: string): Promise<Timeline> {
  const view = sources.views.latest(userId);
  if (view?.code === undefined) return { code: undefined, steps: view?.steps ?? [] };
  const { code, steps } = view;
  const { issued_at: issuedAt, earned } = await sources.ads.code(code);
  const eventIds = earned.map(({ event_id: eventId }) => eventId);
  const [events, receipts] = await Promise.all([readAttempts(sources, eventIds), sources.receipts?.(userId) ?? []]);
  const known: Step[] = [
    ...(steps.some(({ kind }) => kind === "code") ? [] : [{ kind: "code", at: issuedAt, code, ms: null } as const]),
    ...steps,
    ...events.flatMap((event) => stepsOfEvent(event, earned.find((each) => each.event_id === event.eventId)?.event)),
    ...receipts.filter(({ eventId }) => eventId !== null && eventIds.includes(eventId)).map(ledgerStep),
  ];
  return { code, steps: known.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)) };
}

function stepsOfEvent({ eventId, createdAt, attempts }: EventAttempts, event = ""): Step[] {
  return [
    { kind: "event", at: createdAt, event, eventId },
    ...attempts.flatMap(({ at, attempt, ms, status, errorClass, nextAt, isReplay, request, receivedAt }): Step[] => [
      { kind: "attempt", at, attempt, ms, status, errorClass, nextAt, isReplay },
      ...(request && receivedAt !== null
        ? [{ kind: "verified", at: receivedAt, isVerified: request.isVerified } as const]
        : []),
    ]),
  ];
}

function ledgerStep({ receivedAt: at, outcome, amount, reason }: ShownWebhook): Step {
  return { kind: "ledger", at, outcome, amount, reason };
}

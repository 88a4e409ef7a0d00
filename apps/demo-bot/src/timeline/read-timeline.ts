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

interface TimelineSources extends AttemptSources {
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
    ...receipts.flatMap((receipt) => {
      const event = events.find(({ eventId }) => eventId === receipt.eventId);
      return event === undefined ? [] : [ledgerStep(receipt, event)];
    }),
  ];
  return { code, steps: known.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)) };
}

function stepsOfEvent({ eventId, createdAt, attempts }: EventAttempts, event = ""): Step[] {
  return [
    { kind: "event", at: createdAt, event, eventId },
    ...attempts.flatMap(({ at, attempt, ms, status, errorClass, nextAt, isReplay, request, receivedAt }): Step[] => [
      { kind: "attempt", at, attempt, ms, status, errorClass, nextAt, isReplay },
      ...(request && receivedAt !== null
        ? [{ kind: "verified", at: laterOf(receivedAt, at), isVerified: request.isVerified } as const]
        : []),
    ]),
  ];
}

function ledgerStep({ receivedAt, outcome, amount, reason }: ShownWebhook, { attempts }: EventAttempts): Step {
  const [first] = attempts;
  const sentAt = laterOf(first?.receivedAt ?? receivedAt, first?.at ?? receivedAt);
  return { kind: "ledger", at: laterOf(receivedAt, sentAt), outcome, amount, reason };
}

/** The clocks of the servers differ by milliseconds: an effect is never shown before its cause. */
function laterOf(effect: string, cause: string): string {
  return Date.parse(effect) < Date.parse(cause) ? cause : effect;
}

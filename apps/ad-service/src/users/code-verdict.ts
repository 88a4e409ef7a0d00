import type { DeliveryState } from "@intermission/ad-core/wire-fields";
import type { CodeVerdict, TimelineDetail, TimelineEntry, TimelineStep } from "@intermission/operator-api/timeline";

type Kind = TimelineDetail["kind"];

const detailOf = <K extends Kind>(entry: TimelineEntry | undefined, kind: K) =>
  entry?.details.find((detail): detail is Extract<TimelineDetail, { kind: K }> => detail.kind === kind);

const ofWebhook = {
  waiting: "webhook-waiting",
  sending: "webhook-waiting",
  held: "webhook-waiting",
  delivered: "paid",
  failed: "webhook-failed",
  unknown: "webhook-failed",
} satisfies Record<DeliveryState, CodeVerdict>;

/**
 * What became of a code, of everything that is stored of it in the order of time: how it earned, or the last thing that kept
 * it from earning.
 */
export function verdictOfCode(entries: readonly TimelineEntry[]): CodeVerdict {
  const last = (step: TimelineStep) => entries.findLast((entry) => entry.step === step);
  const earned = last("earned");
  if (earned !== undefined) return verdictOfEarned(earned, entries);
  return verdictOfReview(last) ?? verdictOfView(last) ?? verdictOfRequest(last);
}

type Last = (step: TimelineStep) => TimelineEntry | undefined;

function verdictOfEarned(earned: TimelineEntry, entries: readonly TimelineEntry[]): CodeVerdict {
  const isOf = (step: TimelineStep) => entries.some((entry) => entry.step === step && entry.id === earned.id);
  if (isOf("refunded")) return "refunded";
  if (isOf("webhook-answered")) return "paid";
  const webhook = detailOf(earned, "webhook");
  return webhook === undefined ? "earned" : ofWebhook[webhook.state];
}

/** Suspicious views and clicks: held, or decided against. */
function verdictOfReview(last: Last): CodeVerdict | undefined {
  const state = detailOf(last("view-closed"), "view-state")?.state;
  const decision = detailOf(last("reviewed"), "decision")?.decision;
  if (state === "refused" || last("click-refused") !== undefined || decision === "refused") return "refused";
  return state === "held" || last("click-held") !== undefined ? "held" : undefined;
}

function verdictOfView(last: Last): CodeVerdict | undefined {
  const click = last("click-not-counted");
  const opened = last("view-opened");
  if (click !== undefined && (opened === undefined || opened.at < click.at)) return "click-not-counted";
  if (opened === undefined) return undefined;
  if (last("view-watched") !== undefined) return "not-closed";
  return last("view-started") === undefined ? "not-started" : "left-early";
}

function verdictOfRequest(last: Last): CodeVerdict {
  const request = last("ad-requested");
  if (detailOf(request, "no-ad")) return "no-ad";
  if (detailOf(request, "limited")) return "limited";
  if (detailOf(request, "request-refused")) return "request-refused";
  return request === undefined ? "unused" : "not-started";
}

export interface CodeOutcome {
  /** Null: requests without a code. */
  code: string | null;
  verdict: CodeVerdict;
}

/** The outcome of each code among these entries, the one that something happened to last first. */
export function outcomesOf(entries: readonly TimelineEntry[]): CodeOutcome[] {
  const byCode = new Map<string | null, TimelineEntry[]>();
  for (const entry of entries.toReversed()) byCode.set(entry.code, [entry, ...(byCode.get(entry.code) ?? [])]);
  return [...byCode].map(([code, own]) => ({ code, verdict: verdictOfCode(own) }));
}

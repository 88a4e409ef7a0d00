import type { ShownDelivery } from "@intermission/operator-api/deliveries";
import { loadWords, type Section } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

type Facts = Pick<
  ShownDelivery,
  "state" | "isTest" | "blockedReason" | "endReason" | "notBefore" | "dueAt" | "resumeState"
>;

const texts = loadWords("deliveryReasons") satisfies Record<
  Language,
  {
    blocked: Record<NonNullable<Facts["blockedReason"]>, string>;
    ended: Record<NonNullable<Facts["endReason"]>, string>;
  }
>;

/** Why a delivery is in its state, and the next step. `time` writes moments. */
export function explainDelivery(language: Language, delivery: Facts, time: (at: Date) => string): string {
  const words = texts[language];
  const { state, isTest, blockedReason, endReason } = delivery;
  if (state === "delivered" || state === "sending") return words[state];
  if (state === "waiting" || state === "held") {
    if (blockedReason !== null) return words.blocked[blockedReason];
    return state === "held" ? words.held : explainWaiting(words, delivery, time);
  }
  if (isTest) return words.test;
  if (state === "unknown") return words.unknown;
  return endReason === null ? words.again : words.ended[endReason];
}

function explainWaiting(
  words: Section<"deliveryReasons">,
  { notBefore, dueAt, resumeState }: Facts,
  time: (at: Date) => string,
): string {
  if (notBefore !== null && (dueAt === null || notBefore > dueAt)) return words.rests(time(notBefore));
  if (resumeState !== null) return words.replay;
  return dueAt === null ? words.scheduled : words.due(time(dueAt));
}

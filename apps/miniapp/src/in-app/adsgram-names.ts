/**
 * `/sdk/adsgram.js?bot=<id>`: `window.Adsgram` as pages that were written for AdsGram use it. Its names, results and events are
 * those of the types in `@adsgram/common` 1.0.2.
 */
import { fail, init, script } from "./ads-of-page.ts";
import type { ShowResult } from "./show-result.ts";

type EventName =
  | "onReward"
  | "onComplete"
  | "onStart"
  | "onSkip"
  | "onBannerNotFound"
  | "onNonStopShow"
  | "onTooLongSession"
  | "onError";

interface AdsgramResult {
  readonly done: boolean;
  readonly description: string;
  readonly state: "load" | "playing" | "destroy";
  readonly error: boolean;
}

const ads = init({ botId: new URL(script?.src ?? "").searchParams.get("bot") ?? fail("load it with ?bot=<bot id>") });
const controllers = new Map<string, ReturnType<typeof createController>>();

/** What a page that knows AdsGram's events hears of a result, and whether that is an error. */
function eventsOf({ outcome, reason }: ShowResult): { readonly events: readonly EventName[]; readonly error: boolean } {
  switch (outcome) {
    case "credited":
    case "watched":
      return { events: ["onReward", "onComplete"], error: false };
    case "skipped":
    case "closed-early":
      return { events: ["onSkip"], error: false };
    case "no-ad":
      return { events: ["onBannerNotFound"], error: true };
    case "limited":
      return { events: ["onNonStopShow"], error: true };
    case "refused":
      return { events: [reason === "INIT_DATA_EXPIRED" ? "onTooLongSession" : "onError"], error: true };
    case "unavailable":
      return { events: ["onError"], error: true };
    default:
      return outcome satisfies never;
  }
}

/** AdsGram's blocks of interstitials begin so. */
const INTERSTITIAL = "int-";
const format = "interstitial";

function createController(blockId: string) {
  const isInterstitial = blockId.startsWith(INTERSTITIAL);
  const listeners = new Map<EventName, Set<() => void>>();
  let removal = new AbortController();
  const tell = (event: EventName) => {
    for (const listener of listeners.get(event) ?? []) listener();
  };
  return {
    /** Resolves once the ad was watched to the end, or an interstitial skipped; rejects otherwise with a result of the same form. */
    async show(): Promise<AdsgramResult> {
      removal = new AbortController();
      let state: AdsgramResult["state"] = "load";
      const onStart = () => {
        if (state === "load") tell("onStart");
        state = "playing";
      };
      let result: ShowResult;
      try {
        result = await ads.show({ ...(isInterstitial && { format }), onStart, signal: removal.signal });
      } catch (mistake) {
        console.error(mistake);
        result = { outcome: "unavailable", reason: String(mistake) };
      }
      const { events, error } = eventsOf(result);
      // An interstitial rewards nobody.
      for (const event of events) if (!isInterstitial || event !== "onReward") tell(event);
      const done = events.includes("onReward") || result.outcome === "skipped";
      const { outcome, reason } = result;
      const description = reason ? `${outcome}: ${reason}` : outcome;
      const answer: AdsgramResult = { done, description, state: done ? "destroy" : state, error };
      if (done) return answer;
      throw answer;
    },
    addEventListener(event: EventName, listener: () => void) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    removeEventListener(event: EventName, listener: () => void) {
      listeners.get(event)?.delete(listener);
    },
    /** Removes the ad and every listener. */
    destroy() {
      removal.abort();
      listeners.clear();
    },
  };
}

/** One controller for each block, as AdsGram has it. */
function controllerOf({ blockId }: { readonly blockId: string }) {
  const known = controllers.get(blockId) ?? createController(blockId);
  controllers.set(blockId, known);
  return known;
}

Object.assign(window, { Adsgram: { init: controllerOf } });

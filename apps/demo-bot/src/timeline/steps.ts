import type { ShowOutcome } from "@intermission/publisher/in-app";

/** One step of a view, from the tap to the ledger. Every step has happened as it is shown: nothing is made up. */
export type Step = { readonly at: string } & (
  | { readonly kind: "code"; readonly code: string; readonly ms: number | null }
  | { readonly kind: "tap" }
  /** A game has asked its backend for a code, to show an ad over its own page. */
  | { readonly kind: "requested" }
  /** What `show()` has answered to the game. */
  | { readonly kind: "shown"; readonly outcome: ShowOutcome }
  | SessionStep
  | { readonly kind: "first-frame" }
  | ReportStep
  | { readonly kind: "fault"; readonly ms: number; readonly fault: string }
  | { readonly kind: "cheat"; readonly cheat: Cheat }
  | { readonly kind: "event"; readonly event: string; readonly eventId: string }
  | AttemptStep
  | { readonly kind: "verified"; readonly isVerified: boolean }
  | {
      readonly kind: "ledger";
      readonly outcome: string;
      readonly amount: number | null;
      readonly reason: string | null;
    }
);

/** The mini-app opened a session. */
export interface SessionStep {
  readonly kind: "session";
  readonly ms: number;
  /** `session`, another outcome of the player API, or the code of an error. */
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly resumeAtMs: number | null;
}

/** A report of played ranges, and what the service accepted. */
export interface ReportStep {
  readonly kind: "report";
  readonly ms: number;
  readonly isStart: boolean;
  readonly close: "tap" | "page-hidden" | null;
  readonly ranges: readonly { readonly fromMs: number; readonly toMs: number }[];
  readonly acceptedMs: number | null;
  readonly state: string | null;
  readonly refused: readonly string[];
  /** How long to wait until the service's clock allows what was claimed. */
  readonly tooEarlyMs: number | null;
  readonly error: string | null;
}

/** An attempt to deliver the event's webhook. */
interface AttemptStep {
  readonly kind: "attempt";
  readonly attempt: number;
  readonly ms: number | null;
  readonly status: number | null;
  readonly errorClass: string | null;
  readonly nextAt: string | null;
  readonly isReplay: boolean;
}

/** What a person who wants the reward without the ad may try. */
export const cheats = ["seek", "double-speed", "hide"] as const;
type Cheat = (typeof cheats)[number];

import type { ViewerLimitReason } from "@intermission/ad-core/wire-fields";
import type { VisitRefusal } from "@intermission/operator-api/timeline";
import type { Visitor } from "@intermission/server/visitor";
import type { CrowdSuspicion } from "./judge-crowd.ts";
import type { TapSuspicion } from "./tap-token.ts";

/** Why a click may not be a person's although it is within every limit; `judge-click.ts` decides it. */
export type ClickSuspicion =
  /** More users came from one address or one network than the bot's usual clicks explain. */
  | CrowdSuspicion
  /** More than five users came from one address with one user agent. */
  | "many-users-of-one-agent"
  /** At least ten of the clicks that the address counted on this day were taps, and at least four of five. */
  | "mostly-taps"
  /** The click came within a second of the code. */
  | "right-after-issue"
  /** The form of the tap page was posted from another address than the page was sent to. */
  | TapSuspicion;

export type MachineReason = Extract<Visitor, { kind: "machine" }>["reason"];
/** Why a visitor is asked for a tap: doubts about the visitor, or the limits of the address. */
export type TapReason = Extract<Visitor, { kind: "doubtful" }>["reason"] | "address";

/** The page of a visitor whose click is refused by a plain rule. */
export const refusalPages = {
  expired: "expired",
  "no-ad": "no-ad",
  "bot-suspended": "no-ad",
} as const satisfies Record<string, "expired" | "no-ad">;

/** A refusal without further details. */
export type PlainRefusal = keyof typeof refusalPages;

/** What became of a visit of a direct link. */
export type ClickVerdict =
  /** It leads to its ad. Suspicious clicks are counted, held or refused (`suspicious`), by the bot's setting. */
  | { outcome: "counted" | "held" | "suspicious"; suspicions: readonly ClickSuspicion[]; isTest: boolean }
  /** Its code led to this campaign before; null: to an ad that cost nothing. */
  | { outcome: "used"; campaignId: string | null }
  | { outcome: "limited"; reason: ViewerLimitReason; availableAt: Date }
  | { outcome: "machine"; reason: MachineReason }
  | { outcome: "tap-needed"; reason: TapReason }
  | { outcome: PlainRefusal | "address-limit" | "unknown-code" }
  /** Only its campaign's cap for this user prevents it. Choose another ad; nothing was recorded. */
  | { outcome: "user-cap"; userId: string }
  /** Too little is left of its campaign's limits to count it with others. Nothing was recorded. */
  | { outcome: "near-limit" }
  /** Its facts have changed since they were read. Judge it again; nothing was recorded. */
  | { outcome: "again" };

/** Why a visit earned nothing, as it is counted for each code and hour. */
export type ClickRefusal =
  | VisitRefusal
  /** Withheld because the click looks suspicious, by the bot's setting. */
  | "held"
  | "suspicious"
  /** A held click that an operator refused. */
  | "operator";

export type LeadingVerdict = Extract<ClickVerdict, { suspicions: unknown }>;

/** Whether the visitor was led to an ad, which uses up the viewer's quota. */
export function leadsToAd(verdict: ClickVerdict): verdict is LeadingVerdict {
  return "suspicions" in verdict;
}

const refusalOfMachine = {
  head: "machine-head",
  prefetch: "machine-prefetch",
  "empty-agent": "machine-empty-agent",
  crawler: "machine-crawler",
  library: "machine-library",
} satisfies Record<MachineReason, ClickRefusal>;

const refusalOfTap = {
  address: "tap-asked-address",
  embedded: "tap-asked-embedded",
  scripted: "tap-asked-scripted",
  "no-language": "tap-asked-no-language",
  "foreign-form": "tap-asked-foreign-form",
  "no-token": "tap-asked-no-token",
  "crawler-like": "tap-asked-crawler-like",
  "unknown-agent": "tap-asked-unknown-agent",
} satisfies Record<TapReason, ClickRefusal>;

/** Undefined if the visit earned, or if nothing is recorded of it. */
export function refusalOf(verdict: ClickVerdict): ClickRefusal | undefined {
  switch (verdict.outcome) {
    case "counted":
    case "unknown-code":
    case "user-cap":
    case "near-limit":
    case "again":
      return undefined;
    case "machine":
      return refusalOfMachine[verdict.reason];
    case "tap-needed":
      return refusalOfTap[verdict.reason];
    case "limited":
      return verdict.reason;
    default:
      return verdict.outcome;
  }
}

import type { ShownReason } from "@intermission/ad-core/player-api";
import type { AdReportReason } from "@intermission/ad-core/wire-fields";

type TextKey =
  | ("title" | "why" | "everyone" | "targeted" | "legal" | "report" | "question" | "thanks" | "failed")
  | `because-${ShownReason}`
  | `report-${AdReportReason}`;

/** The texts of the sheet in one language: a reason without a text does not compile. */
export type AboutTexts = Readonly<Record<TextKey, string>>;

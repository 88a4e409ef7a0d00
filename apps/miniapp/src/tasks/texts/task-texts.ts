import type { TaskLine } from "../describe-task.ts";

type TextKey =
  | TaskLine
  | "title"
  | "lead"
  | "join"
  | "start"
  | "again"
  | "check"
  | "notYet"
  | "busy"
  | "empty"
  | "later";

/** The texts of the list in one language: a line without a text does not compile. */
export type TaskTexts = Readonly<Record<TextKey, string>> & {
  /** By plural category, with the number of days. */
  readonly stay: Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;
};

import type { explainRoutes } from "@intermission/operator-api/explain";
import type { AnswerOf } from "@intermission/operator-api/route";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

type Explained = AnswerOf<typeof explainRoutes.explainChoice>["campaigns"][number];
type Blocked = NonNullable<AnswerOf<typeof explainRoutes.explainChoice>["blocked"]>["reason"];
export type ExclusionReason = NonNullable<Explained["exclusionReason"]>;

export const explainWords = loadWords("explain") satisfies Record<Language, { blocked: Record<Blocked, string> }>;

export const reasonWords = loadWords("exclusionReasons") satisfies Record<Language, Record<ExclusionReason, string>>;

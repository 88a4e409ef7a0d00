import type { ObjectKind } from "@intermission/operator-api/object-kinds";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const auditWords = loadWords("audit");

export const kindWords = loadWords("objectKinds") satisfies Record<Language, Record<ObjectKind, string>>;

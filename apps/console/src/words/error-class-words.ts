import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import { loadWords } from "./catalog.ts";
import type { Language } from "./languages.ts";

/** Why a request has no valid answer. */
export const errorClassWords = loadWords("errorClasses") satisfies Record<Language, Record<RequestErrorClass, string>>;

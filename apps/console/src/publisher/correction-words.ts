import type { NameOf } from "../forms/form-definition.ts";
import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { publisherCorrectionForm } from "./correction-form-definition.ts";

export const publisherCorrectionWords = loadWords("publisherCorrection") satisfies Record<
  Language,
  FormWords<NameOf<typeof publisherCorrectionForm>>
>;

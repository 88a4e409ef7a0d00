import type { Language } from "../words/languages.ts";

/** What is said about an answer of the server: in which language is known where it is shown. */
export interface LocalText {
  readonly in: (language: Language) => string;
}

/** What the server says in its own words, as it is. */
export const asReceived = (message: string): LocalText => ({ in: () => message });

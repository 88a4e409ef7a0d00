/** The languages of the console, as their readers call them. The words of each are in its own JSON file beside this one. */
export const languageNames = { en: "English", ru: "Русский" } as const;

export type Language = keyof typeof languageNames;

// Of this very table.
export const languages = Object.keys(languageNames) as Language[];

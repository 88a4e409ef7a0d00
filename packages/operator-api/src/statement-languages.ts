/** The languages of statements and of messages to people. */
export const statementLanguages = ["en", "ru"] as const;
export type StatementLanguage = (typeof statementLanguages)[number];

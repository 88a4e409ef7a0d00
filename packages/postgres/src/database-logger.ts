/** What this package says while it works; pino's logger fits. */
export interface DatabaseLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

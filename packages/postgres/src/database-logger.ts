/** The logger of this package; pino's logger implements it. */
export interface DatabaseLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

import { z } from "zod";

/** A short lower-case word that an operator assigns to campaigns and bots: `games`, `real-money`. */
export const category = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, "must be at most 32 lower-case letters, digits and dashes");

import type { KeptRows } from "@intermission/operator-api/status";
import { wholeNumberSetting } from "@intermission/server/settings";
import type { z } from "zod";
import { keptByKind, keptKinds, MIN_KEPT_DAYS, type Retention } from "./kept-rows.ts";

const MAX_DAYS = 36_500;

const days = (usual: number, kept: string, min = MIN_KEPT_DAYS) =>
  wholeNumberSetting({ min, max: MAX_DAYS })
    .default(usual)
    .describe(min === MIN_KEPT_DAYS ? kept : `${kept}; at least ${min} days`);

type InSnakeCase<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}_${InSnakeCase<Rest>}`
  : Text;
type VariableOf<Kind extends KeptRows> = `RETENTION_${Uppercase<InSnakeCase<Kind>>}_DAYS`;

function variableOf<Kind extends KeptRows>(kind: Kind): VariableOf<Kind> {
  return `RETENTION_${kind.toUpperCase().replaceAll("-", "_")}_DAYS` as VariableOf<Kind>;
}

const ofKinds = Object.fromEntries(
  keptKinds.map((kind) => {
    const { usualDays, what, minDays } = keptByKind[kind];
    return [variableOf(kind), days(usualDays, what, minDays)];
  }),
  // Entries lose the names of their types.
) as { [Kind in KeptRows as VariableOf<Kind>]: ReturnType<typeof days> };

export const retentionVariables = {
  ...ofKinds,
  // At least the longest cooldown.
  RETENTION_IDLE_VIEWERS_DAYS: days(90, "a user's limits and latest code, from the last ad on"),
};

export function retentionOf(read: z.output<z.ZodObject<typeof ofKinds>>): Retention {
  return Object.fromEntries(keptKinds.map((kind) => [kind, read[variableOf(kind)]])) as Retention;
}

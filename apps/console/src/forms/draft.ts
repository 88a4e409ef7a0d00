import { useEffect, useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { z } from "zod";
import { jsonIn } from "../operator/call-operator.ts";
import { shownLocalTime } from "../ui/local-time.ts";
import type { TypedValues } from "./form-definition.ts";

const typed = z.union([z.string(), z.boolean(), z.array(z.string())]);
const kept = z.object({ personId: z.string(), idempotencyKey: z.string(), values: z.record(z.string(), typed) });

export interface Draft {
  values: TypedValues;
  /** Of the request that adds the object: sent again after a lost answer, also of a page before, it adds one. */
  idempotencyKey: string;
  isRestored: boolean;
  keep: (values: TypedValues) => void;
  discard: () => void;
}

/**
 * What a person has typed into the form of a new object: kept in this tab until it is added, the draft is discarded, or the
 * person signs out. `usual`: what the fields hold before anything is typed.
 */
export function useDraft(key: string, { personId, usual }: { personId: string; usual: TypedValues }): Draft {
  const [restored, setRestored] = useState(() => readDraft(key, { personId, usual }));
  const [idempotencyKey, setIdempotencyKey] = useState(() => restored?.idempotencyKey ?? crypto.randomUUID());
  return {
    values: restored?.values ?? usual,
    idempotencyKey,
    isRestored: restored !== undefined,
    keep(values) {
      if (JSON.stringify(values) === JSON.stringify(usual)) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify({ personId, idempotencyKey, values: keptOf(values) }));
    },
    discard() {
      sessionStorage.removeItem(key);
      setRestored(undefined);
      setIdempotencyKey(crypto.randomUUID());
    },
  };
}

/** Keeps each change of a form. */
export function useKeptDraft({ keep, idempotencyKey }: Draft, { watch, getValues }: UseFormReturn<TypedValues>): void {
  useEffect(() => {
    const typing = watch(() => keep(getValues()));
    return () => typing.unsubscribe();
  }, [watch, getValues, idempotencyKey]);
}

/** An unfinished time is not kept: a field cannot show it again. */
function keptOf(values: TypedValues): TypedValues {
  const kept = Object.entries(values).map(([name, typed]) => [
    name,
    typeof typed === "string" ? shownLocalTime(typed) : typed,
  ]);
  return Object.fromEntries(kept);
}

/** Undefined: nothing was typed, or it is a draft of another version of this form. */
function readDraft(key: string, { personId, usual }: { personId: string; usual: TypedValues }) {
  const draft = kept.safeParse(jsonIn(sessionStorage.getItem(key) ?? "")).data;
  if (draft?.personId !== personId) return undefined;
  const kindOf = (value: unknown) => (Array.isArray(value) ? "list" : typeof value);
  const isOfForm = Object.entries(usual).every(([name, value]) => kindOf(draft.values[name]) === kindOf(value));
  return isOfForm ? draft : undefined;
}

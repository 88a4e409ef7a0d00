import { useEffect, useState } from "react";
import { type UseFormReturn, useForm } from "react-hook-form";
import type { z } from "zod";
import { useLanguage } from "../words/word-table.ts";
import {
  changedFields,
  type FormDefinition,
  type FormFaults,
  faultsByField,
  readFields,
  splitTyped,
  type TypedValues,
  typedValuesOf,
  withGroups,
} from "./form-definition.ts";

export interface TypedForm<Name extends string = string, Title extends string = string> {
  definition: FormDefinition<Name, Title>;
  methods: UseFormReturn<TypedValues>;
  values: TypedValues;
  /** The fields that the reader sees, in the order of the page. */
  shown: readonly Name[];
  faultOf: (name: string) => string | undefined;
  /** Faults of what the form does not show, by the server's path. */
  otherFaults: FormFaults;
  /** Shows faults at their fields, and leads to the first one. */
  refuse: (faults: FormFaults) => void;
}

interface TypedFormOptions {
  /** What the controls hold at first. */
  initial: TypedValues;
  /** Of the server's last refusal, by path. */
  serverFaults: FormFaults;
  isShown?: (name: string, values: TypedValues) => boolean;
}

/** The state of a form: what is typed, and what is wrong with it. */
export function useTypedForm<Name extends string, Title extends string>(
  definition: FormDefinition<Name, Title>,
  { initial, serverFaults, isShown = () => true }: TypedFormOptions,
): TypedForm<Name, Title> {
  const language = useLanguage();
  const methods = useForm<TypedValues>({ defaultValues: initial });
  const values = methods.watch();
  const { errors } = methods.formState;
  const [otherFaults, setOtherFaults] = useState<FormFaults>({});
  const [focused, setFocused] = useState<{ name: string }>();
  const shown = [...definition.fields.keys()].filter((name) => isShown(name, values));
  const refuse = (faults: FormFaults) => {
    const isHere = ([name]: [string, unknown]) => shown.some((one) => one === name);
    const entries = Object.entries(faultsByField(definition, faults));
    setOtherFaults(Object.fromEntries(entries.filter((entry) => !isHere(entry))));
    for (const [name, text] of entries.filter(isHere)) methods.setError(name, { message: text.in(language) });
    const first = shown.find((name) => entries.some(([one]) => one === name));
    setFocused(first === undefined ? undefined : { name: first });
  };
  useEffect(() => refuse(serverFaults), [serverFaults]);
  // Once the section of the field is open.
  useEffect(() => {
    if (focused !== undefined) methods.setFocus(focused.name);
  }, [focused, methods]);
  return { definition, methods, values, shown, faultOf: (name) => errors[name]?.message, otherFaults, refuse };
}

interface SubmitOptions<Schema extends z.ZodType> {
  schema: Schema;
  /** All that are shown by default. */
  names?: readonly string[];
  fixed?: object;
  onBody: (body: z.input<Schema>, sent: TypedValues) => unknown;
}

/** What `<form onSubmit>` calls: reads the fields, and passes on a body in which the schema finds no fault. */
export function useSubmit<Schema extends z.ZodType>(
  { definition, methods, shown, refuse }: TypedForm,
  { schema, names = shown, fixed = {}, onBody }: SubmitOptions<Schema>,
) {
  const language = useLanguage();
  return methods.handleSubmit(async (sent) => {
    const reading = await readFields(definition, sent, { names, schema, fixed, language });
    if (reading.outcome === "body") await onBody(reading.body, sent);
    else refuse(reading.faults);
  });
}

export interface StoredForm<Stored> {
  /** The version that is changed: the request names it, so that the server changes no other one. */
  seen: Stored;
  /** The fields in which the form differs from it. */
  typed: string[];
  /** Those that another person has changed, too: the reader chooses (`Conflicts`). */
  conflicts: string[];
  /** Shows a stored version; `kept`: the fields that stay as they are typed. */
  show: (stored: Stored, kept?: readonly string[]) => void;
  /** Shows the newest version, except for what was typed. */
  keepTyped: () => void;
  /** Shows the newest version, and keeps what was typed into fields that nobody else has changed. */
  takeTheirs: () => void;
}

/**
 * The form of stored settings that several people change. What another person changes appears in the fields that were not typed
 * into. `stored`: the newest version that was read.
 */
export function useStoredForm<Stored extends object, Name extends string, Title extends string>(
  definition: FormDefinition<Name, Title>,
  { stored, ...options }: Omit<TypedFormOptions, "initial"> & { stored: Stored },
): TypedForm<Name, Title> & StoredForm<Stored> {
  const [seen, setSeen] = useState(stored);
  const form = useTypedForm(definition, { ...options, initial: typedValuesOf(definition, stored) });
  const { methods, values } = form;
  const [before, newest] = [typedValuesOf(definition, seen), typedValuesOf(definition, stored)];
  const isNewer = isLater(stored, seen) ?? changedFields(before, newest).length > 0;
  const { typed, conflicts, own } = splitTyped({ before, newest: isNewer ? newest : before, values });
  const show = (shown: Stored, kept: readonly string[] = []) => {
    const current = methods.getValues();
    const left = Object.fromEntries(Object.entries(current).filter(([name]) => kept.includes(name)));
    methods.reset({ ...typedValuesOf(definition, shown), ...left });
    setSeen(shown);
  };
  const keepTyped = () => show(stored, typed);
  const takeTheirs = () => show(stored, own);
  const isMerged = isNewer && conflicts.length === 0;
  useEffect(() => {
    if (isMerged) keepTyped();
  });
  return { ...form, seen, typed: withGroups(form.shown, typed), conflicts, show, keepTyped, takeTheirs };
}

/** Undefined: the object does not say when it was changed. */
function isLater(version: object, seen: object): boolean | undefined {
  const [at, seenAt] = [version, seen].map((one) => ("updatedAt" in one ? one.updatedAt : undefined));
  return at instanceof Date && seenAt instanceof Date ? at > seenAt : undefined;
}

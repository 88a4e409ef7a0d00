import type { z } from "zod";
import type { LocalText } from "../operator/local-text.ts";
import { faultsOf } from "../ui/typed-faults.ts";
import type { Language } from "../words/languages.ts";
import { type FieldName, type FormField, fieldsOf } from "./form-fields.ts";
import { isSame, readTyped, type Typed, typedOf } from "./typed-values.ts";

/** What the controls of a form hold, by the names of its fields. */
export type TypedValues = Record<string, Typed>;

export interface FormSection<Name extends string, Title extends string> {
  /** The name of its words; without one, the section has no heading. */
  title?: Title;
  /** Shut until it is opened, or has a fault. */
  isFolded?: boolean;
  fields: readonly Name[];
}

/** A form: the fields of a schema in their order on the page. */
export interface FormDefinition<Name extends string = string, Title extends string = string> {
  sections: readonly FormSection<Name, Title>[];
  /** By name, in the order of the page. */
  fields: ReadonlyMap<Name, FormField>;
  /** Fields of the schema that this form leaves to another place of the console, or sets by itself. */
  elsewhere: Readonly<Record<string, string>>;
  /** Where faults of a whole group stand, such as of `targeting`. */
  faultsAt: Readonly<Record<string, Name>>;
}

export type NameOf<Form> = Form extends FormDefinition<infer Name, string> ? Name : never;
export type TitleOf<Form> = Form extends FormDefinition<string, infer Title> ? Title : never;

export function defineForm<
  Schema extends z.ZodObject,
  const Name extends FieldName<z.input<Schema>>,
  const Title extends string = never,
>(
  schema: Schema,
  {
    sections,
    elsewhere = {},
    faultsAt = {},
  }: {
    sections: readonly FormSection<Name, Title>[];
    elsewhere?: Partial<Record<Exclude<FieldName<z.input<Schema>>, Name>, string>>;
    faultsAt?: Readonly<Record<string, NoInfer<Name>>>;
  },
): FormDefinition<Name, Title> {
  const all = new Map(fieldsOf(schema).map((field) => [field.name, field]));
  const fields = sections.flatMap((section) =>
    section.fields.map((name): [Name, FormField] => {
      const field = all.get(name);
      if (field === undefined) throw new Error(`the schema has no field ${name}`);
      return [name, field];
    }),
  );
  return { sections, fields: new Map(fields), elsewhere: elsewhere as Readonly<Record<string, string>>, faultsAt };
}

/** The fields of a schema beside these. */
export function otherFields<Schema extends z.ZodObject, const Name extends FieldName<z.input<Schema>>>(
  schema: Schema,
  names: readonly Name[],
): Exclude<FieldName<z.input<Schema>>, Name>[] {
  const placed: readonly string[] = names;
  // The types are made from the same schema.
  return fieldsOf(schema).flatMap(({ name }) => (placed.includes(name) ? [] : [name])) as never;
}

/** What the fields hold of a stored object. */
export function typedValuesOf({ fields }: FormDefinition, stored: object): TypedValues {
  return Object.fromEntries([...fields].map(([name, field]) => [name, typedOf(field, valueAt(stored, name))]));
}

/** The fields in which two states of a form differ, in their order on the page. */
export function changedFields(before: TypedValues, after: TypedValues): string[] {
  return Object.keys(before).filter((name) => !isSame(before[name], after[name]));
}

/** Of the fields that the reader has typed into: those that another person has set otherwise meanwhile, and the reader's own. */
export function splitTyped({
  before,
  newest,
  values,
}: {
  before: TypedValues;
  newest: TypedValues;
  values: TypedValues;
}) {
  const typed = changedFields(before, values);
  const theirs = changedFields(before, newest);
  const others = changedFields(newest, values);
  const conflicts = typed.filter((name) => theirs.includes(name) && others.includes(name));
  return { typed, conflicts, own: typed.filter((name) => !conflicts.includes(name)) };
}

/** What is wrong, by the name of the field, or by the server's path of what the form does not show. */
export type FormFaults = Readonly<Record<string, LocalText>>;
export type FormReading<Body> = { outcome: "body"; body: Body } | { outcome: "refused"; faults: FormFaults };

interface ReadOptions<Schema extends z.ZodType> {
  names: readonly string[];
  /** Of the request's body. */
  schema: Schema;
  /** What the request says beside the fields. */
  fixed?: object;
  language: Language;
}

/** Reads some of the fields as a body, which says nothing about the others, and checks it by its schema. */
export async function readFields<Schema extends z.ZodType>(
  form: FormDefinition,
  values: TypedValues,
  { names, schema, fixed = {}, language }: ReadOptions<Schema>,
): Promise<FormReading<z.input<Schema>>> {
  const faults: Record<string, LocalText> = {};
  const body: Record<string, unknown> = { ...fixed };
  for (const name of names) {
    const [field, typed] = [form.fields.get(name), values[name]];
    if (field === undefined || typed === undefined) continue;
    const read = await readTyped(field, typed, language);
    if (read.outcome === "refused") faults[name] = read.fault;
    setAt(body, name, read.outcome === "value" ? read.value : undefined);
  }
  const ofBody = faultsByField(form, (await faultsOf(schema, body)) ?? {});
  const all: Record<string, LocalText> = { ...ofBody, ...faults };
  // Without the fields that cannot be read, a change may be empty, which is no fault of its own.
  if (Object.keys(faults).length > 0) delete all[""];
  if (Object.keys(all).length > 0) return { outcome: "refused", faults: all };
  // The schema has found no fault.
  return { outcome: "body", body: body as z.input<Schema> };
}

/** With each field, those of its group: a request replaces the whole group. */
export function withGroups(shown: readonly string[], names: readonly string[]): string[] {
  const groupOf = (name: string) => name.slice(0, name.lastIndexOf("/") + 1);
  const groups = new Set(names.map(groupOf).filter((group) => group !== ""));
  return shown.filter((name) => names.includes(name) || groups.has(groupOf(name)));
}

/** Faults by the paths of a body, at the fields of the form: `targeting.hours.3` belongs to `targeting/hours`. Of several, the first is kept. */
export function faultsByField(form: FormDefinition, faults: FormFaults): FormFaults {
  const placed = Object.entries(faults).map(([path, text]) => [placeOf(form, path), text] as const);
  return Object.fromEntries(placed.toReversed());
}

function placeOf({ fields, faultsAt }: FormDefinition, path: string): string {
  const parts = path.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const name = parts.slice(0, length).join("/");
    if (fields.has(name)) return name;
  }
  return faultsAt[path] ?? path;
}

function valueAt(stored: object, name: string): unknown {
  return name
    .split("/")
    .reduce<unknown>(
      (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
      stored,
    );
}

function setAt(body: Record<string, unknown>, name: string, value: unknown): void {
  const [key = "", ...rest] = name.split("/");
  if (rest.length === 0) {
    body[key] = value;
    return;
  }
  const group = body[key];
  const inner: Record<string, unknown> = typeof group === "object" && group !== null ? { ...group } : {};
  setAt(inner, rest.join("/"), value);
  body[key] = inner;
}

/** A field's name as it is stored, and as the audit trail has it: `dailyCap` is `daily_cap`. */
export type StoredName<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${StoredName<Rest>}`
    : `_${Lowercase<First>}${StoredName<Rest>}`
  : "";

export function storedName<Field extends string>(field: Field): StoredName<Field> {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as StoredName<Field>;
}

/** The column of each of these fields. */
export function storedNames<Field extends string>(
  fields: readonly Field[],
): { readonly [One in Field]: StoredName<One> } {
  // Entries lose the names of their types.
  return Object.fromEntries(fields.map((field) => [field, storedName(field)])) as { [One in Field]: StoredName<One> };
}

/** The values of fields, by the fields' stored names. */
export function byStoredName<Values extends object>(
  values: Values,
): { readonly [Field in keyof Values & string as StoredName<Field>]: Values[Field] } {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [storedName(field), value])) as never;
}

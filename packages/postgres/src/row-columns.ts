/** The column of each field of a row, by its name or as an expression: `{ botId: "bot_id" } satisfies ColumnsOf<Bot>`. */
export type ColumnsOf<Row> = { readonly [Field in keyof Row & string]-?: string };

/** The list of a select whose rows have these fields: `bot_id as "botId", name`. */
export function selected(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([field, column]) => (field === column ? column : `${column} as "${field}"`))
    .join(", ");
}

/** Values by their columns, for `jsonb_populate_record`. A field without a value has none here. */
export function byColumn<Columns extends Readonly<Record<string, string>>>(
  columns: Columns,
  values: { readonly [Field in keyof Columns]?: unknown },
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).map(([field, column]) => [column, values[field]]));
}

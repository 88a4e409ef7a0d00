/** JSON whose integers keep all their digits beyond 2^53, where a double has only some of them. */

/** ES2026, "JSON.parse source text access"; the standard library's types do not have it yet. */
const exact = JSON as unknown as {
  rawJSON(text: string): object;
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
};

/** An integer as `JSON.stringify` writes it. Its type is what a reader of the JSON sees; it is for nothing but writing. */
export function jsonInteger(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (exact.rawJSON(String(value)) as unknown as number);
}

/** Parses JSON; integers beyond 2^53 become a bigint. */
export function parseExactly(text: string): unknown {
  return exact.parse(text, (_key, value, { source = "" }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  );
}

/** Writes what `parseExactly` returns. */
export function stringifyExactly(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? jsonInteger(one) : one), 2);
}

/** Parses JSON; numbers with one of these names are returned as their text in the source. */
export function parseWithTexts(text: string, names: readonly string[]): unknown {
  return exact.parse(text, (key, value, { source }) =>
    typeof value === "number" && names.includes(key) ? source : value,
  );
}

import { z } from "zod";

/** The search of an address as plain text values: `?status=active&advertiser=Shop`, without the router's own JSON. */
export function parseAddress(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function writeAddress(search: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== "") written.set(name, String(value));
  }
  return written.size === 0 ? "" : `?${written}`;
}

/** The order of a list, as `sort` in its address: the id of a column, with a minus from the largest value down. */
export const sortField = z.string().regex(/^-?[a-zA-Z]{1,32}$/);

/** Changes an address of the version before into one of this version. */
type Upgrade = (search: Record<string, string>) => Record<string, string>;

/** What a screen's address says; a field that is undefined is not written. */
type Search<Shape extends z.ZodRawShape> = {
  [Field in keyof z.output<z.ZodObject<Shape>>]?: z.output<z.ZodObject<Shape>>[Field] | undefined;
} & { v?: number | undefined };

/**
 * Reads a screen's state from its address. An address keeps working after a release: it holds the version `v` of its fields,
 * and is upgraded from there; what it does not know or may not be is left out, field by field. Version 1 is not written.
 */
export function searchOf<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, upgrades: readonly Upgrade[] = []) {
  const version = upgrades.length + 1;
  return (search: Record<string, unknown>): Search<Shape> => {
    // The router hands over what a link or a filter takes out of the address as undefined.
    const present = Object.entries(search).filter(([, value]) => value !== undefined);
    const written = Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
    const from = Math.max(0, Number.parseInt(written.v ?? "1", 10) - 1 || 0);
    const upgraded = upgrades.slice(from).reduce((older, upgrade) => upgrade(older), written);
    const read: Record<string, unknown> = {};
    for (const [name, field] of Object.entries<z.core.$ZodType>(schema.shape)) {
      const parsed = upgraded[name] === undefined ? undefined : (field as z.ZodType).safeParse(upgraded[name]);
      if (parsed?.success) read[name] = parsed.data;
    }
    // Each field was read by its own schema.
    return { ...read, ...(version > 1 && { v: version }) } as Search<Shape>;
  };
}

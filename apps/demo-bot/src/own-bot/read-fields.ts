/** Fields of a Bot API request by name; values that are not text are JSON. */
export type BotApiFields = Readonly<Record<string, string | undefined>>;

/** Bot libraries send JSON, or forms whose fields hold JSON. Throws if the body is neither. */
export async function readFields(body: Buffer, contentType: string): Promise<BotApiFields> {
  if (body.length === 0) return {};
  const fields: [string, unknown][] = contentType.startsWith("application/json")
    ? Object.entries(JSON.parse(body.toString()))
    : [...(await new Response(Uint8Array.from(body), { headers: { "content-type": contentType } }).formData())];
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

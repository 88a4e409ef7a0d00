/**
 * What of a change of an OpenAPI 3.1 document breaks a client of the one before. Clients may send what they sent, and find in
 * answers and webhooks what they found: so requests may only accept more, and answers only say more. Words that are added to
 * a list in an answer, and kinds of objects that are added there, break no client: the contract asks clients to leave out
 * what they do not know.
 */

type Json = Record<string, unknown>;
type Direction = "request" | "answer";

/** One break: the operation, such as `POST /client/v1/codes`, and the sentence that says what and why. */
export interface BreakingChange {
  readonly operation: string;
  readonly sentence: string;
}

interface Place {
  readonly operation: string;
  readonly direction: Direction;
  /** For people, such as "the answer's". */
  readonly what: string;
  readonly path: string;
}

interface Comparison {
  readonly older: Json;
  readonly newer: Json;
  readonly found: BreakingChange[];
  /** Pairs of references that were compared, since types may contain themselves. */
  readonly seen: Set<string>;
}

export function breakingChanges(older: Json, newer: Json): BreakingChange[] {
  const comparison: Comparison = { older, newer, found: [], seen: new Set() };
  const prefix = prefixOf(older);
  for (const [path, methods] of entriesOf(older.paths)) {
    for (const [method, operation] of entriesOf(methods)) {
      const name = `${method.toUpperCase()} ${prefix}${path}`;
      const next = at(newer.paths, path, method);
      if (next === undefined) report(comparison, name, "is gone: a client that calls it is answered 404 or 405");
      else compareOperations(comparison, name, [operation as Json, next]);
    }
  }
  for (const [name, webhook] of entriesOf(older.webhooks)) {
    const [body, next] = [at(webhook, "post", "requestBody"), at(newer.webhooks, name, "post", "requestBody")];
    if (next === undefined) report(comparison, `webhook ${name}`, "is gone: a receiver waits for it in vain");
    else compareContents(comparison, { operation: `webhook ${name}`, direction: "answer", what: "its" }, [body, next]);
  }
  return comparison.found;
}

/** The sentences of the breaks that no line of the changelog announces: it has `**Breaking:**` and the operation in backquotes. */
export function unannounced(changes: readonly BreakingChange[], changelog: string): string[] {
  const [, unreleased = ""] = /^## \[Unreleased\]\n([\s\S]*)/m.exec(changelog) ?? [];
  const [latest = ""] = unreleased.split(/^## /m);
  const announced = latest.split("\n").filter((line) => line.includes("**Breaking:**"));
  return changes
    .filter(({ operation }) => !announced.some((line) => line.includes(`\`${operation}\``)))
    .map(({ operation, sentence }) => `\`${operation}\` ${sentence}`);
}

function report({ found }: Comparison, operation: string, sentence: string): void {
  found.push({ operation, sentence });
}

function compareOperations(comparison: Comparison, operation: string, [older, newer]: [Json, Json]): void {
  compareParameters(comparison, operation, [older, newer]);
  const [body, nextBody] = [older.requestBody, newer.requestBody] as [Json | undefined, Json | undefined];
  if (nextBody?.required === true && body?.required !== true)
    report(comparison, operation, "needs a body: a client that sends none is refused");
  if (body !== undefined && nextBody === undefined)
    report(comparison, operation, "takes no body: what a client sends in it is lost");
  if (body !== undefined && nextBody !== undefined)
    compareContents(comparison, { operation, direction: "request", what: "the body's" }, [body, nextBody]);
  for (const [status, answer] of entriesOf(older.responses)) {
    if (Number(status) >= 300) continue;
    const next = at(newer.responses, status);
    if (next === undefined)
      report(comparison, operation, `no longer answers ${status}: a client that expects it fails`);
    else compareContents(comparison, { operation, direction: "answer", what: "the answer's" }, [answer as Json, next]);
  }
  const [guards, nextGuards] = [at(older, "security"), at(newer, "security")];
  if (isOpen(guards ?? comparison.older.security) && !isOpen(nextGuards ?? comparison.newer.security))
    report(comparison, operation, "needs a token: a client without one is refused");
}

function isOpen(security: unknown): boolean {
  return !Array.isArray(security) || security.length === 0 || security.some((one) => Object.keys(one).length === 0);
}

function compareParameters(comparison: Comparison, operation: string, [older, newer]: [Json, Json]): void {
  const listOf = (of: Json) => (Array.isArray(of.parameters) ? (of.parameters as Json[]) : []);
  const same = (one: Json) => (other: Json) => one.name === other.name && one.in === other.in;
  for (const parameter of listOf(older)) {
    const next = listOf(newer).find(same(parameter));
    const what = `the parameter \`${parameter.name}\``;
    if (next === undefined)
      report(comparison, operation, `has lost ${what}: a client that sends it is refused or not heard`);
    else
      compareSchemas(comparison, { operation, direction: "request", what, path: "" }, [parameter.schema, next.schema]);
  }
  for (const parameter of listOf(newer)) {
    const before = listOf(older).find(same(parameter));
    if (parameter.required === true && before?.required !== true)
      report(
        comparison,
        operation,
        `needs the parameter \`${parameter.name}\`: a client that does not send it is refused`,
      );
  }
}

function compareContents(
  comparison: Comparison,
  place: Omit<Place, "path">,
  [older, newer]: [Json | undefined, Json | undefined],
): void {
  for (const [type, media] of entriesOf(older?.content)) {
    const next = at(newer?.content, type);
    const verb = place.direction === "request" ? "accepts" : "answers";
    if (next === undefined)
      report(comparison, place.operation, `no longer ${verb} ${type}: a client that uses it fails`);
    else compareSchemas(comparison, { ...place, path: "" }, [at(media, "schema"), at(next, "schema")]);
  }
}

function compareSchemas(comparison: Comparison, place: Place, [older, newer]: [unknown, unknown]): void {
  const key = [refOf(older), refOf(newer), place.direction].join(" ");
  if (refOf(older) !== undefined && refOf(newer) !== undefined) {
    // A type is compared once for each operation.
    if (comparison.seen.has(`${place.operation} ${key}`)) return;
    comparison.seen.add(`${place.operation} ${key}`);
  }
  const olderKinds = alternatives(comparison.older, older);
  const newerKinds = alternatives(comparison.newer, newer);
  if (olderKinds === undefined || newerKinds === undefined) return;
  compareTypes(comparison, place, [olderKinds, newerKinds]);
  for (const kind of ["string", "number", "array"] as const) {
    const [before, after] = [onlyOf(olderKinds, kind), onlyOf(newerKinds, kind)];
    if (before === undefined || after === undefined) continue;
    if (place.direction === "request") compareLimits(comparison, place, [before, after]);
    if (kind === "array")
      compareSchemas(comparison, { ...place, path: `${place.path}[]` }, [before.items ?? {}, after.items ?? {}]);
  }
  compareWords(comparison, place, [olderKinds, newerKinds]);
  compareObjects(comparison, place, [olderKinds, newerKinds]);
}

/** The schemas that a value may fit, without references and unions; undefined: any value. */
function alternatives(document: Json, schema: unknown): Json[] | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const reference = refOf(schema);
  if (reference !== undefined) return alternatives(document, at(document, ...reference.slice(2).split("/")));
  const one = schema as Json;
  const union = one.anyOf ?? one.oneOf;
  if (Array.isArray(union)) {
    const parts = union.map((part) => alternatives(document, part));
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }
  if (Array.isArray(one.allOf)) {
    const parts = one.allOf.map((part) => alternatives(document, part)?.[0] ?? {});
    return [parts.reduce(merged, { ...one, allOf: undefined })];
  }
  if (Array.isArray(one.type)) return one.type.map((type) => ({ ...one, type }));
  if ("const" in one) return [{ ...one, type: kindOfValue(one.const), enum: [one.const] }];
  if (Array.isArray(one.enum) && one.type === undefined)
    return [...new Set(one.enum.map(kindOfValue))].map((type) => ({ ...one, type }));
  return one.type === undefined ? undefined : [one];
}

function merged(one: Json, other: Json): Json {
  const properties = { ...(one.properties as Json), ...(other.properties as Json) };
  const required = [...((one.required as string[]) ?? []), ...((other.required as string[]) ?? [])];
  return { ...one, ...other, properties, required };
}

const kindOfValue = (value: unknown) => (value === null ? "null" : typeof value);
const kindOf = ({ type }: Json) => (type === "integer" ? "number" : String(type));
const kindsOf = (schemas: readonly Json[]) => new Set(schemas.map(kindOf));

function onlyOf(schemas: readonly Json[], kind: string): Json | undefined {
  const of = schemas.filter((one) => kindOf(one) === kind);
  return of.length === 1 ? of[0] : undefined;
}

function compareTypes(comparison: Comparison, place: Place, [older, newer]: [Json[], Json[]]): void {
  const [before, after] = [kindsOf(older), kindsOf(newer)];
  if (place.direction === "request") {
    const lost = [...before].filter((kind) => !after.has(kind));
    if (lost.length > 0)
      reportAt(comparison, place, `no longer takes ${listed(lost)}: a client that sends it is refused`);
    return;
  }
  const added = [...after].filter((kind) => !before.has(kind));
  if (added.length > 0)
    reportAt(comparison, place, `may be ${listed(added)}: a client that reads ${listed([...before])} fails`);
}

const listed = (kinds: readonly string[]) => kinds.join(" or ");

/** Each limit, and whether its new value refuses what the old one accepted. */
const limits: Readonly<Record<string, (before: unknown, after: unknown) => boolean>> = {
  minLength: isHigher,
  minItems: isHigher,
  minimum: isHigher,
  exclusiveMinimum: isHigher,
  maxLength: isLower,
  maxItems: isLower,
  maximum: isLower,
  exclusiveMaximum: isLower,
  pattern: isOther,
  format: isOther,
};

function isHigher(before: unknown, after: unknown): boolean {
  return typeof after === "number" && (typeof before !== "number" || after > before);
}

function isLower(before: unknown, after: unknown): boolean {
  return typeof after === "number" && (typeof before !== "number" || after < before);
}

function isOther(before: unknown, after: unknown): boolean {
  return after !== undefined && before !== after;
}

function compareLimits(comparison: Comparison, place: Place, [older, newer]: [Json, Json]): void {
  for (const [name, refuses] of Object.entries(limits)) {
    const [before, after] = [older[name], newer[name]];
    if (refuses(before, after))
      reportAt(
        comparison,
        place,
        `has \`${name}\` ${after} instead of ${before ?? "none"}: a client may send what is refused now`,
      );
  }
}

/** In a request, words that were accepted must stay so. */
function compareWords(comparison: Comparison, place: Place, [older, newer]: [Json[], Json[]]): void {
  if (place.direction === "answer") return;
  const wordsOf = (schemas: readonly Json[]) => {
    const strings = schemas.filter((one) => kindOf(one) === "string");
    return strings.every((one) => Array.isArray(one.enum))
      ? strings.flatMap((one) => one.enum as unknown[])
      : undefined;
  };
  const [before, after] = [wordsOf(older), wordsOf(newer)];
  if (after === undefined || after.length === 0) return;
  if (before === undefined) reportAt(comparison, place, "takes only listed words: a client may send another one");
  const lost = (before ?? []).filter((word) => !after.includes(word));
  if (lost.length > 0)
    reportAt(comparison, place, `no longer takes \`${lost.join("`, `")}\`: a client that sends it is refused`);
}

function compareObjects(comparison: Comparison, place: Place, [older, newer]: [Json[], Json[]]): void {
  const [before, after] = [older, newer].map((schemas) => schemas.filter((one) => kindOf(one) === "object"));
  if (before === undefined || after === undefined) return;
  const isSingle = before.length === 1 && after.length === 1;
  for (const one of before) {
    const next = isSingle ? after[0] : after.find((other) => isSameVariant(comparison, one, other));
    if (next !== undefined) compareFields(comparison, place, [one, next]);
    else if (place.direction === "request" && after.length > 0)
      reportAt(comparison, place, "no longer takes one of its kinds of objects: a client that sends it is refused");
  }
}

/** Whether the fields that tell the kinds of a union apart have the same words in both. */
function isSameVariant(comparison: Comparison, one: Json, other: Json): boolean {
  const wordOf = (document: Json, schema: Json, name: string) => {
    const [only, ...others] = alternatives(document, at(schema.properties, name)) ?? [];
    return others.length === 0 && Array.isArray(only?.enum) && only.enum.length === 1 ? only.enum[0] : undefined;
  };
  const words = Object.keys((one.properties as Json) ?? {}).flatMap((name) => {
    const word = wordOf(comparison.older, one, name);
    return word === undefined ? [] : [[name, word] as const];
  });
  return words.length > 0 && words.every(([name, word]) => wordOf(comparison.newer, other, name) === word);
}

function compareFields(comparison: Comparison, place: Place, [older, newer]: [Json, Json]): void {
  const requiredOf = (schema: Json) => (Array.isArray(schema.required) ? (schema.required as string[]) : []);
  for (const [name, schema] of entriesOf(older.properties)) {
    const next = at(newer.properties, name);
    const field = { ...place, path: place.path === "" ? name : `${place.path}.${name}` };
    if (next !== undefined) compareSchemas(comparison, field, [schema, next]);
    else if (place.direction === "answer") reportAt(comparison, field, "is gone: a client that reads it fails");
    else if (newer.additionalProperties === false)
      reportAt(comparison, field, "is gone: a client that sends it is refused");
    if (
      place.direction === "answer" &&
      next !== undefined &&
      requiredOf(older).includes(name) &&
      !requiredOf(newer).includes(name)
    )
      reportAt(comparison, field, "may be missing: a client that counts on it fails");
  }
  if (place.direction === "answer") return;
  for (const name of requiredOf(newer).filter((one) => !requiredOf(older).includes(one)))
    reportAt(
      comparison,
      { ...place, path: place.path === "" ? name : `${place.path}.${name}` },
      "is required: a client that does not send it is refused",
    );
}

function reportAt(comparison: Comparison, { operation, what, path }: Place, sentence: string): void {
  report(comparison, operation, path === "" ? `${what} value ${sentence}` : `${what} field \`${path}\` ${sentence}`);
}

function refOf(schema: unknown): string | undefined {
  const reference = at(schema, "$ref");
  return typeof reference === "string" ? reference : undefined;
}

/** What stands in an object below these keys. */
function at(value: unknown, ...keys: readonly string[]): Json | undefined {
  let found = value;
  for (const key of keys) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Json)[key];
  }
  return found as Json | undefined;
}

function entriesOf(value: unknown): [string, Json][] {
  return typeof value === "object" && value !== null ? (Object.entries(value) as [string, Json][]) : [];
}

/** `/client/v1`, of the server's address. */
function prefixOf(document: Json): string {
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  return typeof server?.url === "string" ? new URL(server.url, "http://server").pathname.replace(/\/$/, "") : "";
}

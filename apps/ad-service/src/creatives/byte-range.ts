/** The bytes `from` to `to`, both included. */
export interface BytePart {
  from: number;
  to: number;
}

export type RequestedBytes =
  /** No range, or one that is ignored: of another unit, malformed, or of several parts. */
  { outcome: "whole" } | ({ outcome: "part" } & BytePart) | { outcome: "not-satisfiable" };

const WHOLE: RequestedBytes = { outcome: "whole" };
const MAX_HEADER_LENGTH = 1024;
const RANGE = /^(\d{1,15})-(\d{0,15})$|^-(\d{1,15})$/;

/**
 * What a `Range` header asks of a file (RFC 9110, section 14.2). Several parts that touch or overlap are one; others are
 * answered by the whole file, as the RFC allows, since no player asks for them.
 */
export function requestedBytes(header: string | undefined, byteLength: number): RequestedBytes {
  const set = /^\s*bytes\s*=(.*)$/i.exec(header?.slice(0, MAX_HEADER_LENGTH + 1) ?? "")?.[1];
  if (header === undefined || set === undefined || header.length > MAX_HEADER_LENGTH) return WHOLE;
  const specs = set
    .split(",")
    .map((spec) => spec.trim())
    .filter((spec) => spec !== "");
  const parts = specs.map((spec) => partOf(spec, byteLength));
  if (parts.length === 0 || parts.includes("malformed")) return WHOLE;
  const satisfiable = parts.filter((part) => typeof part !== "string").toSorted((a, b) => a.from - b.from);
  const [first, ...others] = satisfiable;
  if (!first) return { outcome: "not-satisfiable" };
  let { to } = first;
  for (const part of others) {
    if (part.from > to + 1) return WHOLE;
    to = Math.max(to, part.to);
  }
  return { outcome: "part", from: first.from, to };
}

function partOf(spec: string, byteLength: number): BytePart | "malformed" | "beyond" {
  const match = RANGE.exec(spec);
  if (!match) return "malformed";
  const [, first, last = "", suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), byteLength);
    return length === 0 ? "beyond" : { from: byteLength - length, to: byteLength - 1 };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return "malformed";
  return from >= byteLength
    ? "beyond"
    : { from, to: Math.min(last === "" ? byteLength : Number(last), byteLength - 1) };
}

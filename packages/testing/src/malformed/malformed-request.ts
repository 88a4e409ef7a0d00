import type { Random } from "../seeded-random.ts";
import * as junk from "./junk.ts";
import { headerLines } from "./junk-headers.ts";

/** A well-formed request, from which malformed ones are made. */
export interface Sample {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string;
}

export interface MalformedRequest {
  readonly bytes: Buffer;
  /** From the request line, which may be invalid. */
  readonly method: string;
  readonly target: string;
}

interface Draft {
  method: string;
  target: string;
  version: string;
  lines: string[];
  body: Buffer;
  isLengthSent: boolean;
  isChunked: boolean;
}

const changes: ((draft: Draft, random: Random, sample: Sample) => void)[] = [
  changeMethod,
  changePath,
  changePath,
  changeQuery,
  changeQuery,
  changeHeaders,
  changeHeaders,
  changeHeaders,
  changeFields,
  changeFields,
  changeFields,
  changeFields,
  changeBody,
  changeFraming,
  changeVersion,
];

/** Makes one to three changes to a sample, which may leave it valid; in one of ten, some bytes are corrupted, too. */
export function malformedRequest(random: Random, samples: readonly Sample[]): MalformedRequest {
  const sample = random.pick(samples);
  const draft: Draft = {
    method: sample.method,
    target: sample.path,
    version: "HTTP/1.1",
    lines: Object.entries({ host: "127.0.0.1", ...sample.headers }).map(([name, value]) => `${name}: ${value}`),
    body: Buffer.from(typeof sample.body === "object" ? JSON.stringify(sample.body) : (sample.body ?? "")),
    isLengthSent: true,
    isChunked: false,
  };
  for (let count = random.below(3); count >= 0; count--) random.pick(changes)(draft, random, sample);
  const whole = bytesOf(draft, random);
  const bytes = random.oneIn(10) ? spoil(whole, random) : whole;
  const [method = "", target = ""] = (bytes.toString("latin1").trimStart().split("\r\n")[0] ?? "").split(/ +/);
  return { bytes, method, target };
}

function changeMethod(draft: Draft, random: Random): void {
  draft.method = random.pick(junk.methods);
}

function changeVersion(draft: Draft, random: Random): void {
  draft.version = random.pick(junk.versions);
}

function changePath(draft: Draft, random: Random): void {
  if (random.oneIn(8)) {
    draft.target = random.pick(junk.targets);
    return;
  }
  const [path = "", query] = draft.target.split("?");
  const segments = path.split("/");
  const part = random.pick(junk.pathParts);
  const at = random.below(segments.length);
  if (random.oneIn(2)) segments[at] = part;
  else segments.splice(at, random.below(2), `${segments[at] ?? ""}${part}`);
  draft.target = segments.join("/") + (query === undefined ? "" : `?${query}`);
}

function changeQuery(draft: Draft, random: Random): void {
  const [path = "", query = ""] = draft.target.split("?");
  const names = [...new URLSearchParams(query).keys(), "input", "a"];
  const text = encodeURIComponent(random.pick(junk.texts).toWellFormed());
  draft.target = random.oneIn(2) ? path + random.pick(junk.queries) : `${path}?${query}&${random.pick(names)}=${text}`;
}

function changeHeaders(draft: Draft, random: Random): void {
  if (random.oneIn(6)) draft.lines.splice(random.below(draft.lines.length), 1);
  else if (random.oneIn(20)) draft.lines.push(...Array.from({ length: 300 }, (_, index) => `x-${index}: y`));
  else draft.lines.push(random.pick(headerLines));
}

function changeBody(draft: Draft, random: Random): void {
  draft.body = Buffer.from(random.pick(junk.bodies));
}

/** Replaces or removes a value in the sample's JSON, so that the validation after the parser is reached. */
function changeFields(draft: Draft, random: Random, { body }: Sample): void {
  if (typeof body !== "object") {
    changeQuery(draft, random);
    return;
  }
  const changed = structuredClone(body) as Record<string, unknown>;
  let at = changed;
  let name = random.pick([...Object.keys(changed), "extra"]);
  for (let inner = at[name]; isObject(inner) && Object.keys(inner).length > 0 && random.oneIn(2); inner = at[name]) {
    at = inner;
    name = random.pick(Object.keys(at));
  }
  if (random.oneIn(6)) delete at[name];
  else at[name] = random.oneIn(2) ? random.pick(junk.texts) : random.pick(junk.values);
  draft.body = Buffer.from(JSON.stringify(changed));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function changeFraming(draft: Draft, random: Random): void {
  draft.isChunked = random.oneIn(2);
  draft.isLengthSent = random.oneIn(2);
}

function bytesOf({ method, target, version, lines, body, isLengthSent, isChunked }: Draft, random: Random): Buffer {
  const framing: string[] = [];
  if (isChunked) framing.push("transfer-encoding: chunked");
  if (isLengthSent && !isChunked && body.length > 0) framing.push(`content-length: ${body.length}`);
  const head = [`${method} ${target} ${version}`, ...lines, ...framing, "", ""].join("\r\n");
  return Buffer.concat([
    Buffer.from(head, random.oneIn(2) ? "latin1" : "utf8"),
    isChunked ? chunked(body, random) : body,
  ]);
}

function chunked(body: Buffer, random: Random): Buffer {
  const size = random.pick([
    body.length.toString(16),
    "0",
    "-1",
    "zz",
    "ffffffffffffffff",
    `${body.length.toString(16)};${"e".repeat(50)}`,
    "5",
  ]);
  const end = random.pick([
    "\r\n0\r\n\r\n",
    "\r\n0\r\nx: y\r\n\r\n",
    "\r\n0\r\nbad trailer\r\n\r\n",
    "0\r\n",
    "",
    "\n0\n\n",
  ]);
  return Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from(end)]);
}

function spoil(bytes: Buffer, random: Random): Buffer {
  const spoiled = Buffer.from(bytes);
  const at = random.below(Math.max(1, Math.min(bytes.length, 400)));
  switch (random.below(5)) {
    case 0:
      return spoiled.subarray(0, at);
    case 1:
      return Buffer.concat([spoiled.subarray(0, at), Buffer.from([random.below(256)]), spoiled.subarray(at)]);
    case 2:
      return Buffer.concat([spoiled.subarray(0, at), spoiled.subarray(at + 1 + random.below(20))]);
    case 3:
      return Buffer.concat([spoiled, spoiled.subarray(at)]);
    default:
      if (at < spoiled.length) spoiled[at] = random.below(256);
      return spoiled;
  }
}

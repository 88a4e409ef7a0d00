import type { AnswerOf, OperatorRoute, ParamNames } from "@intermission/operator-api/route";
import { z } from "zod";
import type { Language } from "../words/languages.ts";
import { asReceived, type LocalText } from "./local-text.ts";

/** What may stand in an address: a `Date` is sent as RFC 3339. */
type QueryValue = string | number | boolean | Date;

type ParamsInput<Route extends OperatorRoute> = [ParamNames<Route["path"]>] extends [never]
  ? { params?: never }
  : { params: Readonly<Record<ParamNames<Route["path"]>, string>> };
type QueryInput<Route extends OperatorRoute> = Route extends { query: infer Query extends z.ZodType }
  ? { query?: { readonly [Field in keyof z.output<Query>]?: QueryValue | undefined } }
  : { query?: never };
type BodyInput<Route extends OperatorRoute> = Route extends { body: "file" }
  ? { body: Blob }
  : Route extends { body: infer Body extends z.ZodType }
    ? { body: z.input<Body> }
    : { body?: never };

/** The parts of a request to a route. */
export type RouteInput<Route extends OperatorRoute> = ParamsInput<Route> & QueryInput<Route> & BodyInput<Route>;

/** Optional where a request to the route may have no parts at all. */
export type InputArguments<Route extends OperatorRoute> =
  Record<never, never> extends RouteInput<Route> ? [input?: RouteInput<Route>] : [input: RouteInput<Route>];

/**
 * Why a request failed: the server's own code and message, `UNREACHABLE` if there was no answer, or `OTHER_VERSION` if this
 * page does not know the answer's form, as after an update of the server.
 */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  /** The faults of fields, by the field's name. */
  readonly fields: Readonly<Record<string, LocalText>>;
  /** What the server says, in the reader's language; undefined: only in its own words. */
  readonly texts: LocalText | undefined;
  constructor({
    status,
    code,
    message,
    fields = {},
    texts,
  }: {
    status: number;
    code: string;
    message: string;
    fields?: Readonly<Record<string, LocalText>>;
    texts?: LocalText | undefined;
  }) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.texts = texts;
  }
}

const values = z.record(z.string(), z.string());
const fieldDetails = z.array(
  z.object({ field: z.string(), message: z.string(), code: z.string().optional(), values: values.optional() }),
);
const problemDetails = z.object({ values });
const errorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }).partial({ details: true }),
});

/** Of routes that name no time of their own. */
const ANSWER_MS = 30_000;

/** Makes a request to a route of the operator's API, and checks the answer by the route's schema. Throws a `CallError`. */
export async function callOperator<Route extends OperatorRoute>(
  route: Route,
  input: RouteInput<Route> | undefined,
  signal?: AbortSignal,
): Promise<AnswerOf<Route>> {
  const { body }: { body?: unknown } = input ?? {};
  const isFile = body instanceof Blob;
  const type = isFile ? "application/octet-stream" : "application/json";
  const timeout = AbortSignal.timeout(Math.max(ANSWER_MS, (route.bodyTimeoutMs ?? 0) + (route.answerTimeoutMs ?? 0)));
  const response = await fetch(addressOf(route, input), {
    method: route.method,
    // What is done when a page is left, such as an archiving, outlives the page.
    keepalive: route.method !== "GET" && body === undefined,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...(body !== undefined && { headers: { "content-type": type }, body: isFile ? body : JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new CallError({ status: 0, code: "UNREACHABLE", message: "the ad service does not answer" });
  });
  const text = await response.text().catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new CallError({ status: 0, code: "UNREACHABLE", message: "the answer broke off" });
  });
  const answer = jsonIn(text);
  if (!response.ok) throw await refusalOf(response, answer);
  const read = route.answer.safeParse(answer);
  if (!read.success)
    throw new CallError({ status: response.status, code: "OTHER_VERSION", message: "the answer has an unknown form" });
  // The schema is of this route; a generic type loses that.
  return read.data as AnswerOf<Route>;
}

/** Undefined: the text is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an answer of the operator's API that is not 2xx says. */
export async function refusalOf(
  { status, statusText }: { status: number; statusText: string },
  answer: unknown,
): Promise<CallError> {
  const refused = errorBody.safeParse(answer).data?.error;
  return new CallError({
    status,
    code: "UNREACHABLE",
    message: statusText,
    ...(refused && { code: refused.code, message: refused.message, ...(await textsOf(refused)) }),
  });
}

/** Loaded with the first refusal. A browser that cannot load them shows the server's own messages. */
async function textsOf({ code, message, details }: { code: string; message: string; details?: unknown }) {
  const ofFields = fieldDetails.safeParse(details).data;
  if (ofFields === undefined) {
    const words = await import("./problem-words.ts").catch(() => undefined);
    const { values = {} } = problemDetails.safeParse(details).data ?? {};
    return { texts: words?.problemTexts({ code, message, values }) };
  }
  const words = await import("./fault-words.ts").catch(() => undefined);
  const fields = ofFields.map(({ field, message, code = "", values = {} }): [string, LocalText] => [
    field,
    words?.faultText({ code, values }) ?? asReceived(message),
  ]);
  const ofFile = fields.filter(([field]) => field === "file").map(([, text]) => text);
  if (ofFile.length === 0) return { fields: Object.fromEntries(fields) };
  // A file is the whole request: its faults stand beside no field.
  return { texts: { in: (language: Language) => ofFile.map((text) => text.in(language)).join(" ") } };
}

/** Where a request to a route goes: for links to answers that are no JSON, too. */
export function addressOf<Route extends OperatorRoute>(route: Route, input: RouteInput<Route> | undefined): string {
  const parts: { params?: Record<string, string>; query?: Record<string, QueryValue | undefined> } = input ?? {};
  const { params = {}, query = {} } = parts;
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, textOf(value));
  return `/operator/v1${path}${search.size > 0 ? `?${search}` : ""}`;
}

function textOf(value: QueryValue): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

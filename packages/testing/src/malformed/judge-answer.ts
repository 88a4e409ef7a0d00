import type { Exchange } from "./send-malformed.ts";

/** The form of errors at a path: the error body, tRPC's own form, or a page for people. */
export type ErrorForm = "json" | "trpc" | "page";

/**
 * The fault of an exchange, or undefined. An answer must be a success, a redirect, or a 4xx error in one of the allowed
 * forms, with a request id. Only an incomplete request may remain without an answer.
 */
export function judgeAnswer(
  { answer, request, wasWaiting }: Exchange,
  formsAt: (target: string) => ErrorForm[],
): string | undefined {
  if (answer === undefined) return wasWaiting ? undefined : "closed without an answer";
  const { status, headers, body } = answer;
  if (status >= 500 || status === 101) return `status ${status}`;
  if (/^[0-9A-Za-z_-]{8,64}$/.exec(headers["x-request-id"] ?? "") === null) return "no request id";
  if (status < 400 || isBodiless(request.method, headers)) return undefined;
  const isJudged = formsAt(request.target).some((form) => isOfForm[form](headers["content-type"] ?? "", body));
  return isJudged ? undefined : `status ${status} with ${headers["content-type"]} ${body.slice(0, 300)}`;
}

/** Corrupted bytes may have turned another method into HEAD. */
function isBodiless(method: string, headers: Readonly<Record<string, string>>): boolean {
  return method === "HEAD" && headers["content-length"] !== "0";
}

const isOfForm = {
  json: (type, body) => /^application\/json/.test(type) && isErrorBody(parse(body)),
  trpc(type, body) {
    const parsed = parse(body);
    const all = Array.isArray(parsed) ? parsed : [parsed];
    return (
      /^application\/json/.test(type) && all.length > 0 && all.every((each) => isTrpcError(each) || isTrpcResult(each))
    );
  },
  page: (type, body) => /^text\/html/.test(type) && /^<!doctype html>/i.test(body),
} satisfies Record<ErrorForm, (type: string, body: string) => boolean>;

function isErrorBody(parsed: unknown): boolean {
  const error = fieldOf(parsed, "error");
  const code = fieldOf(error, "code");
  const names = typeof error === "object" && error !== null ? Object.keys(error) : [];
  return (
    typeof code === "string" &&
    /^[A-Z][A-Z_]+$/.test(code) &&
    typeof fieldOf(error, "message") === "string" &&
    names.every((name) => ["code", "message", "details"].includes(name))
  );
}

function isTrpcError(parsed: unknown): boolean {
  const error = fieldOf(parsed, "error");
  const data = fieldOf(error, "data");
  return (
    typeof fieldOf(error, "message") === "string" &&
    typeof fieldOf(error, "code") === "number" &&
    typeof fieldOf(data, "code") === "string" &&
    typeof fieldOf(data, "httpStatus") === "number" &&
    fieldOf(data, "stack") === undefined
  );
}

function isTrpcResult(parsed: unknown): boolean {
  return fieldOf(parsed, "result") !== undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

import { pauseBeforeRetry } from "@intermission/ad-core/retry";
import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import { openSslReason, tlsFaultOf } from "@intermission/ad-core/tls-fault";
import { AdsError, type RequestError } from "./ads-error.ts";

// createAds loads this file when the first call fails: the core stays small.

/** Milliseconds until the next attempt of a call; undefined if there is none. */
export function pauseAfter(
  failed: RequestError,
  call: { readonly attempts: number; readonly retries: number; readonly isRepeatable: boolean },
): number | undefined {
  const seconds = pauseBeforeRetry(failed, { ...call, random: Math.random() });
  return seconds && seconds * 1000;
}

const MAX_RETRY_AFTER_SECONDS = 24 * 3600;

/** `Retry-After` of an answer, at most a day; undefined if it has none. */
export function waitOf(response: Response): number | undefined {
  const seconds = retryAfterSeconds(response.headers.get("retry-after") ?? "", new Date());
  return seconds && Math.min(seconds, MAX_RETRY_AFTER_SECONDS);
}

/** Makes the error of a response of `address` that is not a success, or not one of the contract. */
export function errorOf(response: Response, answer: unknown, address: string): AdsError {
  const { code, message } = envelopeOf(answer);
  return new AdsError(message ?? foreignAnswer(response, address, "the ad service"), {
    status: response.status,
    code: code ?? "UNEXPECTED_ANSWER",
    retryAfterSeconds: waitOf(response),
  });
}

/**
 * Why no answer came: the innermost cause, because fetch's own error only says "fetch failed". Names the address, which
 * contains no secret.
 */
export function unansweredMessage(
  error: unknown,
  { address, server, timeoutMs }: { readonly address: string; readonly server: string; readonly timeoutMs: number },
): string {
  const { origin } = new URL(address);
  const isLate = isError(error) && error.name === "TimeoutError";
  if (isLate) return `${server} at ${origin} did not answer within ${timeoutMs} ms: check whether it runs there`;
  return `${server} at ${origin} did not answer: ${innermostCause(error)}; check the address and whether it runs there`;
}

const MAX_CAUSES = 8;

/** Not `instanceof`: in Jest's tests, `fetch` and its errors are those of another realm. */
function isError(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}

function innermostCause(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < MAX_CAUSES && isError(inner); depth++) {
    // The addresses of one name, tried one after the other.
    const { errors = [] } = inner as Partial<AggregateError>;
    const next: unknown = errors[0] ?? inner.cause;
    if (next === undefined) break;
    inner = next;
  }
  if (!isError(inner)) return String(inner);
  const { code } = inner as { readonly code?: unknown };
  const message = openSslReason(inner.message).split("\n", 1)[0] ?? "";
  if (tlsFaultOf(message) === "without-tls")
    return `there is no TLS at its port (${message}), so the address begins with http://`;
  if (typeof code !== "string" || message.includes(code)) return message || inner.name;
  return message === "" ? code : `${message} (${code})`;
}

/** Names who answered. The body is left out: it is the page of a proxy, of a challenge or of a network's sign-in. */
export function foreignAnswer(response: Response, address: string, server: string): string {
  const { status, url } = response;
  const location = response.headers.get("location");
  if (status >= 300 && status <= 399 && location !== null && URL.canParse(location, url || address))
    return redirectMessage(new URL(location, url || address), { address, server });
  const { host } = new URL(url || address);
  return `${status} from a proxy or another server at ${host}, not from ${server}: check the address and what stands in front of it`;
}

/** Without what follows the API's path, which the client adds, and without a query, which may hold a secret. */
function redirectMessage(target: URL, { address, server }: { readonly address: string; readonly server: string }) {
  const { origin, pathname } = target;
  const [base = ""] = pathname.split(/\/(?:client\/v1|trpc)(?:\/|$)/, 1);
  const isSamePath = pathname !== base;
  const next = isSamePath
    ? `set url to ${origin}${base.replace(/\/$/, "")}`
    : "check the address and what stands in front of it, such as a sign-in page";
  return `${server} at ${new URL(address).origin} redirects to ${origin}${isSamePath ? base : pathname}, which is not followed: ${next}`;
}

function envelopeOf(answer: unknown): { readonly code?: string; readonly message?: string } {
  const error = (answer as { error?: { code?: unknown; message?: unknown } | null } | null | undefined)?.error;
  return typeof error?.code === "string" && typeof error.message === "string"
    ? { code: error.code, message: error.message }
    : {};
}

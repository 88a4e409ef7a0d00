import type { Dispatcher } from "undici";
import { isAddressOpen, parseNetworks } from "./address-guard.ts";
import { answerText } from "./answer-text.ts";
import { connectionPools } from "./connection-pools.ts";
import { type Deadline, orAborted, startDeadline } from "./deadline.ts";
import { type Answer, exchange } from "./exchange.ts";
import { type ErrorClass, errorClassOf, OutgoingFailure } from "./outgoing-failure.ts";
import type { FailedRequest, GuardedResult, OutgoingRequest, Purpose, Timings } from "./outgoing-request.ts";
import { hostResolver, type Lookup } from "./resolve-host.ts";

const LONGEST_RETRY_AFTER = 100;

export interface GuardedRequests {
  /** Throws only for faults of this machine or of our code; everything that the other side can cause is an outcome. */
  guardedRequest(request: OutgoingRequest): Promise<GuardedResult>;
  close(): Promise<void>;
}

export interface GuardedRequestSettings {
  /** False in production: https only. */
  isPlainHttpAllowed: boolean;
  /** CIDR networks, by purpose, that are reached although they are not public. */
  allowedNetworks: Record<Purpose, readonly string[]>;
  lookup?: Lookup;
}

/**
 * The one door for outgoing HTTP. The name is resolved once; if any of its addresses is not global unicast (or allowed)
 * nothing is sent; else exactly the first is connected to, and the peer is compared before a byte is written.
 * Redirects are never followed, answers never inflated, HTTP/2 never spoken.
 */
export function openGuardedRequests(settings: GuardedRequestSettings): GuardedRequests {
  const networks = { webhook: parseNetworks(settings.allowedNetworks.webhook) };
  const resolve = hostResolver(settings.lookup);
  const pools = connectionPools();

  async function attempt(request: OutgoingRequest, seen: Seen, deadline: Deadline): Promise<Answer> {
    const url = checkedUrl(request.url, settings.isPlainHttpAllowed);
    const addresses = await orAborted(resolve(url.hostname), deadline.signal);
    const blocked = addresses.find((address) => !isAddressOpen(address, networks[request.purpose]));
    seen.address = blocked ?? addresses[0];
    if (blocked !== undefined) throw new OutgoingFailure("blocked-address", `${blocked} is not a public address`);
    if (seen.address === undefined) throw new OutgoingFailure("dns", "the name has no address");

    const { pool, release } = pools.borrow(url.origin, seen.address);
    try {
      return await exchange(pool, dispatchOptions(url, request), deadline.signal, () => {
        deadline.connected();
        seen.timings.connectMs = performance.now() - seen.startedAt;
      });
    } finally {
      release();
    }
  }

  async function guardedRequest(request: OutgoingRequest): Promise<GuardedResult> {
    const startedAt = performance.now();
    const seen: Seen = {
      startedAt,
      address: undefined,
      timings: { connectMs: undefined, firstByteMs: undefined, totalMs: 0 },
    };
    const deadline = startDeadline(request);
    try {
      return answered(await attempt(request, seen, deadline), seen);
    } catch (error) {
      request.signal?.throwIfAborted();
      const errorClass = errorClassOf(error);
      if (errorClass === undefined) throw new Error("an outgoing request could not be made", { cause: error });
      return failed(errorClass, error instanceof Error ? error.message : String(error), seen);
    } finally {
      deadline.clear();
    }
  }

  return { guardedRequest, close: pools.close };
}

interface Seen {
  readonly startedAt: number;
  address: string | undefined;
  readonly timings: Timings;
}

function answered(answer: Answer, seen: Seen): GuardedResult {
  const { status } = answer;
  const { address, timings, startedAt } = seen;
  timings.firstByteMs = answer.firstByteAt - startedAt;
  const retryAfter = answer.headers["retry-after"]?.slice(0, LONGEST_RETRY_AFTER).toString();
  const text = answerText(answer.body);
  if (status >= 300 && status <= 399) return { ...failed("redirect", text, seen), status, retryAfter };
  timings.totalMs = performance.now() - startedAt;
  return { outcome: "answered", status, text, retryAfter, address, timings };
}

function failed(errorClass: ErrorClass, detail: string, { startedAt, address, timings }: Seen): FailedRequest {
  timings.totalMs = performance.now() - startedAt;
  const wasSent = timings.connectMs !== undefined;
  return { outcome: "failed", errorClass, wasSent, detail: answerText(Buffer.from(detail)), address, timings };
}

function checkedUrl(text: string, isPlainHttpAllowed: boolean): URL {
  if (!URL.canParse(text)) throw new OutgoingFailure("blocked-address", "this is no address");
  const url = new URL(text);
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && isPlainHttpAllowed);
  if (!isAllowed) throw new OutgoingFailure("blocked-address", `${url.protocol} is not allowed`);
  if (url.username || url.password)
    throw new OutgoingFailure("blocked-address", "the address holds a user name or password");
  return url;
}

function dispatchOptions(url: URL, { method, headers, body }: OutgoingRequest): Dispatcher.DispatchOptions {
  return {
    path: url.pathname + url.search,
    method,
    headers: { ...headers, "accept-encoding": "identity" },
    body: body ?? null,
  };
}

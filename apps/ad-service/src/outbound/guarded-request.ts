import { isIP } from "node:net";
import type { Writable } from "node:stream";
import { openSslReason } from "@intermission/ad-core/tls-fault";
import { hasUserInfo } from "@intermission/ad-core/web-address";
import { storableText } from "@intermission/postgres/storable-text";
import { type CallOutcome, traceCall } from "@intermission/server/trace-context";
import type { Dispatcher } from "undici";
import {
  hostResolver,
  isAddressOpen,
  type Lookup,
  type Network,
  type ParsedTarget,
  parseNetworks,
  parseTarget,
} from "./address-guard.ts";
import { type ConnectionPool, connectionPools, giveBackConnection, takeConnection } from "./connection.ts";
import { type AnswerHead, Exchange, watchDeadlines } from "./exchange.ts";
import {
  errorClassOf,
  type GuardedResult,
  OutgoingFailure,
  type OutgoingRequest,
  type Purpose,
} from "./outgoing-request.ts";

const MAX_RETRY_AFTER = 100;
const MAX_CONTENT_HEADER_LENGTH = 200;
const MAX_TARGETS = 2000;

export interface GuardedRequests {
  /** Throws only for faults of this machine or this code; everything that the other side can cause is an outcome. */
  guardedRequest(request: OutgoingRequest): Promise<GuardedResult>;
  /**
   * Whether nothing is ever sent to an address, whatever names resolve to: an IP address that is neither public nor allowed,
   * or a name of this machine.
   */
  isClosed(purpose: Purpose, url: string): boolean;
  close(): Promise<void>;
}

export interface GuardedRequestSettings {
  /** False in production: https only. */
  isPlainHttpAllowed: boolean;
  /** CIDR networks, by purpose, that may be reached although they are not public. */
  allowedNetworks: Partial<Record<Purpose, readonly string[]>>;
  lookup?: Lookup;
  /** How long a name's addresses are cached; default 10 s. */
  lookupKeptMs?: number;
}

/** A parsed URL and the addresses last checked for it. Cached, since both steps cost more than the rest of a request here. */
interface Target extends ParsedTarget {
  readonly literal: readonly string[] | undefined;
  open?: readonly string[];
  /** The address to which a request was sent last. */
  reached?: string;
}

/**
 * The only path for outgoing HTTP. The name is resolved once. If any of its addresses is neither global unicast nor allowed,
 * nothing is sent. Otherwise it connects to one of these addresses only: to the next one if the connection to the one before
 * cannot be opened, four at most. The peer's address is compared before a byte is written.
 * Redirects are never followed, answers never decompressed, HTTP/2 never used.
 */
export function openGuardedRequests(settings: GuardedRequestSettings): GuardedRequests {
  const targetsOf = (purpose: Purpose) => ({
    networks: parseNetworks(settings.allowedNetworks[purpose] ?? []),
    targets: new Map<string, Target>(),
  });
  const opened: Opened = {
    isPlainHttpAllowed: settings.isPlainHttpAllowed,
    purposes: {
      webhook: targetsOf("webhook"),
      vast: targetsOf("vast"),
      video: targetsOf("video"),
      buyer: targetsOf("buyer"),
      ord: targetsOf("ord"),
    },
    resolver: hostResolver(settings.lookup, settings.lookupKeptMs),
    pools: connectionPools(),
  };
  const deadlines = watchDeadlines();

  async function guardedRequest(request: OutgoingRequest): Promise<GuardedResult> {
    request.signal?.throwIfAborted();
    const exchange = new Exchange(request);
    deadlines.add(exchange);
    try {
      await perform(opened, request, exchange);
    } catch (error) {
      exchange.giveUp(error);
    } finally {
      deadlines.remove(exchange);
    }
    return exchange.answer ? answered(exchange.answer, request, exchange) : failed(request, exchange);
  }

  return {
    guardedRequest: (request) => traced(request, guardedRequest),
    isClosed(purpose, url) {
      const host = (URL.parse(url)?.hostname ?? "").replace(/^\[|\]$/g, "").replace(/\.$/, "");
      const address = /^(.+\.)?localhost$/.test(host) ? "127.0.0.1" : host;
      return isIP(address) !== 0 && !isAddressOpen(address, opened.purposes[purpose].networks);
    },
    close: opened.pools.close,
  };
}

/** Publishers continue the trace of what their users earned. Networks and trackers are not told of it. */
function traced(request: OutgoingRequest, send: GuardedRequests["guardedRequest"]): Promise<GuardedResult> {
  const { method, url, purpose } = request;
  return traceCall(
    { method, url, attributes: { "intermission.purpose": purpose }, isPropagated: purpose === "webhook" },
    ({ traceparent }) =>
      send(traceparent === undefined ? request : { ...request, headers: { ...request.headers, traceparent } }),
    outcomeOf,
  );
}

const outcomeOf = (result: GuardedResult): CallOutcome => ({
  status: result.status,
  errorType: result.outcome === "failed" ? result.errorClass : undefined,
});

interface Opened {
  readonly isPlainHttpAllowed: boolean;
  readonly purposes: Record<Purpose, { readonly networks: readonly Network[]; readonly targets: Map<string, Target> }>;
  readonly resolver: ReturnType<typeof hostResolver>;
  readonly pools: ReturnType<typeof connectionPools>;
}

async function perform(opened: Opened, request: OutgoingRequest, exchange: Exchange): Promise<void> {
  const { resolver, pools } = opened;
  const { networks } = opened.purposes[request.purpose];
  const target = targetOf(opened, request);
  const addresses = target.literal ?? resolver.known(target.host) ?? (await lookUp(opened, target.host, exchange));
  if (addresses.length === 0) throw new OutgoingFailure("dns", "the name has no address");
  if (addresses !== target.open) refuseClosed(addresses, networks, exchange);
  target.open = addresses;

  const isFresh = request.connection === "fresh";
  const inOrder = addresses.length > 1 ? orderAddresses(addresses, target.reached) : addresses;
  for (const [index, address] of inOrder.entries()) {
    exchange.address = address;
    exchange.shareConnectTime(inOrder.length - index);
    const pool = pools.to(address, target);
    // A request is sent twice at most: the second time on a new connection.
    await sendOn(pool, { target, request, exchange, isFresh: isFresh || exchange.wasSent });
    if (!isFresh && exchange.brokeOnKeptConnection) {
      request.signal?.throwIfAborted();
      await sendOn(pool, { target, request, exchange, isFresh: true });
    }
    if (exchange.hasBegun) target.reached = address;
    if (!isUnreached(exchange)) return;
    request.signal?.throwIfAborted();
  }
}

/** The last send did not begin, and a connection to another address may be opened all the same. */
function isUnreached({ hasBegun, failure }: Exchange): boolean {
  const errorClass = errorClassOf(failure);
  return !hasBegun && (errorClass === "refused" || errorClass === "reset" || errorClass === "timeout-connect");
}

/** Each takes a part of the time, and a name may have hundreds. */
const MAX_ADDRESSES = 4;

/**
 * The address that was reached last, then the two families in turn (RFC 8305, 4): if IPv6 does not work on either side, the
 * second attempt already uses IPv4.
 */
function orderAddresses(addresses: readonly string[], reached: string | undefined): readonly string[] {
  const isV6 = (address: string) => address.includes(":");
  const [first = ""] = addresses;
  const ofFirst = addresses.filter((address) => isV6(address) === isV6(first));
  const others = addresses.filter((address) => isV6(address) !== isV6(first));
  const inTurn = ofFirst.flatMap((address, index) => [address, ...others.slice(index, index + 1)]);
  const all = [...inTurn, ...others.slice(ofFirst.length)];
  const known = all.filter((address) => address === reached);
  return [...known, ...all.filter((address) => address !== reached)].slice(0, MAX_ADDRESSES);
}

function targetOf({ purposes, isPlainHttpAllowed }: Opened, { purpose, url }: OutgoingRequest): Target {
  const { targets } = purposes[purpose];
  const known = targets.get(url);
  if (known) return known;
  // Networks name http in old wrappers and trackers, which cannot be corrected here. Browsers request them by https, too.
  const isUpgraded = purpose === "vast" && !isPlainHttpAllowed;
  const parsed = parseTarget(isUpgraded ? url.replace(/^http:/i, "https:") : url, isPlainHttpAllowed);
  for (const oldest of targets.keys()) {
    if (targets.size < MAX_TARGETS) break;
    targets.delete(oldest);
  }
  const target = { ...parsed, literal: parsed.isLiteral ? [parsed.host] : undefined };
  targets.set(url, target);
  return target;
}

async function lookUp({ resolver }: Opened, host: string, exchange: Exchange): Promise<readonly string[]> {
  try {
    const addresses = await Promise.race([resolver.lookUp(host), exchange.over()]);
    if (addresses === undefined || exchange.isOver) throw exchange.failure;
    return addresses;
  } finally {
    exchange.timings.dnsMs = performance.now() - exchange.startedAt;
  }
}

async function sendOn(
  pool: ConnectionPool,
  {
    target,
    request,
    exchange,
    isFresh,
  }: { target: Target; request: OutgoingRequest; exchange: Exchange; isFresh: boolean },
): Promise<void> {
  const connection = takeConnection(pool, { isFresh });
  try {
    exchange.sendOn(connection, dispatchOptions(target.path, request));
    await exchange.over();
  } finally {
    giveBackConnection(pool, connection, exchange.isClean && request.connection !== "fresh");
  }
}

/** Refuses all addresses if one is closed: a name that resolves to both may resolve to either the next time. */
function refuseClosed(addresses: readonly string[], networks: readonly Network[], exchange: Exchange): void {
  const closed = addresses.find((address) => !isAddressOpen(address, networks));
  if (closed === undefined) return;
  exchange.address = closed;
  throw new OutgoingFailure("blocked-address", `${closed} is not a public address`);
}

function answered({ status, headers }: AnswerHead, request: OutgoingRequest, exchange: Exchange): GuardedResult {
  const { address, timings } = exchange;
  const retryAfter = headers["retry-after"]?.slice(0, MAX_RETRY_AFTER).toString();
  const text = answerText(exchange.body());
  if (status >= 300 && status <= 399) {
    // Resolving it against the requested URL would drop an `@` without a name, so it is refused here.
    const target = headers.location?.toString();
    const location = target !== undefined && hasUserInfo(target) ? undefined : target;
    const redirect = { errorClass: "redirect" as const, wasSent: true, detail: text, status, location };
    return { outcome: "failed", ...redirect, retryAfter, address, timings };
  }
  const isWhole = exchange.isClean;
  const body = request.maxBodyBytes !== undefined && isWhole ? exchange.body() : undefined;
  const contentType = contentHeader(headers["content-type"]);
  const contentEncoding = contentHeader(headers["content-encoding"]);
  const signs = signNames.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name}: ${printable(headers[name])}`],
  );
  return {
    outcome: "answered",
    status,
    text,
    retryAfter,
    body,
    contentType,
    contentEncoding,
    signs: signs.join("\n"),
    isWhole,
    bodyBytes: exchange.body().length,
    address,
    timings,
  };
}

/** A proxy's login, ngrok and Cloudflare: their pages differ, and are longer than what is kept. */
const signNames = ["www-authenticate", "ngrok-error-code", "cf-mitigated"] as const;

function printable(value: string | string[]): string {
  return value
    .toString()
    .replaceAll(/[^\x20-\x7e]/g, "")
    .slice(0, MAX_CONTENT_HEADER_LENGTH);
}

/** A header that is sent twice is a list (RFC 9110, 5.3). */
function contentHeader(value: string | string[] | undefined): string | undefined {
  return value?.toString().slice(0, MAX_CONTENT_HEADER_LENGTH);
}

function failed(request: OutgoingRequest, { failure, wasSent, address, timings }: Exchange): GuardedResult {
  request.signal?.throwIfAborted();
  const errorClass = errorClassOf(failure);
  if (errorClass === undefined) throw new Error("an outgoing request could not be made", { cause: failure });
  const detail = answerText(Buffer.from(failureText(failure)));
  return { outcome: "failed", errorClass, wasSent, detail, address, timings };
}

function failureText(failure: unknown): string {
  return failure instanceof Error ? openSslReason(failure.message) : String(failure);
}

function dispatchOptions(
  path: string,
  { method, headers, body, connection }: OutgoingRequest,
): Dispatcher.DispatchOptions {
  const reset = connection === "fresh";
  return { path, method, headers: { ...headers, "accept-encoding": "identity" }, body: body ?? null, reset };
}

const MAX_TEXT_BYTES = 4 * 1024;

const lossy = new TextDecoder();

/**
 * The text of an answer for the log: at most 4 KiB of UTF-8, cut between characters. Invalid UTF-8 becomes U+FFFD. A log that
 * cannot be written must never cause another send.
 */
function answerText(bytes: Uint8Array): string {
  const text = storableText(lossy.decode(bytes), MAX_TEXT_BYTES);
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TEXT_BYTES));
  return text.slice(0, read);
}

const MAX_DOWNLOAD_MS = 5 * 60_000;
const MAX_REDIRECTS = 5;

interface DownloadRequest {
  url: string;
  into: Writable;
  signal: AbortSignal;
  /** Bytes beyond this number are not read. */
  maxBytes: number;
}

/**
 * Downloads a video into a stream, which stays open. Redirects, like the first address, may lead to public addresses
 * only. "refused": the address returned no video, which its owner can correct.
 */
export async function downloadVideo(
  { guardedRequest }: Pick<GuardedRequests, "guardedRequest">,
  { url: first, into, signal, maxBytes }: DownloadRequest,
): Promise<{ outcome: "downloaded" } | { outcome: "refused"; message: string }> {
  const refused = (message: string) => ({ outcome: "refused", message }) as const;
  const endsAt = performance.now() + MAX_DOWNLOAD_MS;
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const result = await guardedRequest({
      url,
      method: "GET",
      purpose: "video",
      signal,
      bodyTo: into,
      maxBodyBytes: maxBytes,
      headers: { accept: "video/mp4, video/webm, */*;q=0.1", "user-agent": "Intermission" },
      totalTimeoutMs: Math.max(1, endsAt - performance.now()),
    });
    if (result.outcome === "answered") {
      if (result.status !== 200) return refused(`${url} answered ${result.status} instead of a video`);
      if (!result.isWhole && !into.destroyed) return refused(`${url} broke off, or took longer than 5 minutes`);
      return { outcome: "downloaded" };
    }
    const next = result.location === undefined ? null : URL.parse(result.location, url);
    if (!next) return refused(`${url} could not be fetched: ${result.errorClass}, ${result.detail}`);
    url = next.href;
  }
  return refused(`${first} was redirected more than ${MAX_REDIRECTS} times`);
}

import type { VastReason } from "@intermission/operator-api/vast-reasons";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { decodeContent } from "./decode-document.ts";
import type { Drops } from "./drops.ts";
import { fillMacros, type Macros } from "./fill-macros.ts";
import { parseDocument, VastFault } from "./parse-document.ts";
import type { Turns } from "./read-xml.ts";
import { MAX_URL_LENGTH, type VastDocument } from "./vast-ad.ts";

/** For all hops of one tag together. */
const TOTAL_MS = 5000;
/** Includes redirects and the wrappers of several ads: a tag must not make this service call whole networks. */
const MAX_REQUESTS = 16;
const MAX_REDIRECTS = 5;
const MAX_DOCUMENT_BYTES = 512 * 1024;
/** For all documents together: parsing each takes time. */
const MAX_BYTES = 2 * 1024 * 1024;

/** One request on the way from a tag to its ad, and what it led to. */
export type TagStep = { url: string; milliseconds: number } & (
  | { outcome: "redirect"; location: string }
  | { outcome: "document"; contentType: string | undefined; byteLength: number; document: VastDocument }
  | { outcome: "fault"; reason: VastReason }
);
type StepResult = TagStep extends infer Step
  ? Step extends TagStep
    ? Omit<Step, "url" | "milliseconds">
    : never
  : never;

interface FetcherOptions {
  macros: () => Macros;
  turns: Turns;
  totalMs?: number;
  drops: Drops;
  /** Called after each request, for who tries a tag. */
  observe?: ((step: TagStep) => void) | undefined;
}

/**
 * Fetches the documents that one tag leads to, within one deadline; their URLs are templates. Requests carry the
 * viewer's user agent, but not the viewer's address. The returned function throws a VastFault.
 */
export function documentFetcher(
  requests: Pick<GuardedRequests, "guardedRequest">,
  { macros, turns, totalMs = TOTAL_MS, drops, observe }: FetcherOptions,
): (template: string, known?: Partial<Macros>) => Promise<VastDocument> {
  const endsAt = performance.now() + totalMs;
  let requestsLeft = MAX_REQUESTS;
  let bytesLeft = MAX_BYTES;

  async function fetchOnce(url: string) {
    const leftMs = endsAt - performance.now();
    if (leftMs < 1) throw new VastFault({ kind: "too-slow", milliseconds: totalMs });
    if (--requestsLeft < 0) throw new VastFault({ kind: "too-many-requests", max: MAX_REQUESTS });
    const { userAgent = "" } = macros();
    return requests.guardedRequest({
      url,
      method: "GET",
      purpose: "vast",
      headers: headersFor(userAgent),
      maxBodyBytes: MAX_DOCUMENT_BYTES,
      totalTimeoutMs: leftMs,
    });
  }

  /** What one address answers. Throws a VastFault. */
  async function readOnce(url: string): Promise<Exclude<StepResult, { outcome: "fault" }>> {
    const result = await fetchOnce(url);
    if (result.outcome === "failed" && result.errorClass === "redirect") {
      const next = result.location === undefined ? null : URL.parse(result.location, url);
      if (!next) throw new VastFault({ kind: "redirect-without-address" });
      return { outcome: "redirect", location: next.href };
    }
    if (result.outcome === "failed")
      throw new VastFault({ kind: "no-answer", errorClass: result.errorClass, detail: result.detail });
    if (result.status === 204) throw new VastFault({ kind: "no-content" });
    if (result.status !== 200) throw new VastFault({ kind: "status", status: result.status });
    if (!result.body) throw new VastFault({ kind: "incomplete", maxBytes: MAX_DOCUMENT_BYTES });
    const { body, contentType, contentEncoding } = result;
    const decoded = await decodeContent({ body, contentEncoding }, { maxBytes: MAX_DOCUMENT_BYTES });
    if (decoded.outcome === "too-large") throw new VastFault({ kind: "too-large", maxBytes: MAX_DOCUMENT_BYTES });
    if (decoded.outcome === "undecodable") throw new VastFault(decoded.reason);
    const { byteLength } = decoded.body;
    bytesLeft -= byteLength;
    if (bytesLeft < 0) throw new VastFault({ kind: "all-too-large", maxBytes: MAX_BYTES });
    const document = await parseDocument(turns, decoded.body, { url, contentType, drops });
    return { outcome: "document", contentType, byteLength, document };
  }

  async function observed(url: string): ReturnType<typeof readOnce> {
    const startedAt = performance.now();
    const tell = (result: StepResult) =>
      observe?.({ url, milliseconds: Math.round(performance.now() - startedAt), ...result });
    try {
      const result = await readOnce(url);
      tell(result);
      return result;
    } catch (error) {
      if (error instanceof VastFault) tell({ outcome: "fault", reason: error.reason });
      throw error;
    }
  }

  return async (template, known) => {
    if (template.length > MAX_URL_LENGTH) throw new VastFault({ kind: "address-too-long", max: MAX_URL_LENGTH });
    let url = fillMacros(template, { ...macros(), ...known });
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const result = await observed(url);
      if (result.outcome === "document") return result.document;
      url = result.location;
    }
    throw new VastFault({ kind: "too-many-redirects", max: MAX_REDIRECTS });
  };
}

/** Headers that IAB requires of servers that act for a device; `X-Device-IP` is omitted on purpose. */
export function headersFor(userAgent: string): Record<string, string> {
  const device = userAgent.replace(/[^\x20-\x7e]/g, "").slice(0, 512);
  return {
    accept: "application/xml, text/xml, */*",
    "user-agent": "Intermission",
    ...(device && { "x-device-user-agent": device }),
  };
}

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
const TOO_LARGE = `more than ${MAX_DOCUMENT_BYTES / 1024} KiB`;
/** For all documents together: parsing each takes time. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Fetches the documents that one tag leads to, within one deadline; their URLs are templates. Requests carry the
 * viewer's user agent, but not the viewer's address. The returned function throws a VastFault.
 */
export function documentFetcher(
  requests: Pick<GuardedRequests, "guardedRequest">,
  { macros, turns, totalMs = TOTAL_MS, drops }: { macros: () => Macros; turns: Turns; totalMs?: number; drops: Drops },
): (template: string) => Promise<VastDocument> {
  const endsAt = performance.now() + totalMs;
  let requestsLeft = MAX_REQUESTS;
  let bytesLeft = MAX_BYTES;

  async function fetchOnce(url: string) {
    const leftMs = endsAt - performance.now();
    if (leftMs < 1) throw new VastFault(301, `nothing within ${totalMs} ms`);
    if (--requestsLeft < 0) throw new VastFault(300, `more than ${MAX_REQUESTS} requests`);
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

  return async (template) => {
    if (template.length > MAX_URL_LENGTH) throw new VastFault(300, `a tag is longer than ${MAX_URL_LENGTH} characters`);
    let url = fillMacros(template, macros());
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const result = await fetchOnce(url);
      if (result.outcome === "failed" && result.errorClass === "redirect") {
        const next = result.location === undefined ? null : URL.parse(result.location, url);
        if (!next) throw new VastFault(301, "a redirect to no address");
        url = next.href;
        continue;
      }
      if (result.outcome === "failed") throw new VastFault(301, `${result.errorClass}: ${result.detail}`);
      if (result.status === 204) throw new VastFault(303, "an answer without content");
      if (result.status !== 200) throw new VastFault(301, `status ${result.status}`);
      if (!result.body) throw new VastFault(301, `${TOO_LARGE}, or broken off`);
      const { body, contentType, contentEncoding } = result;
      const decoded = await decodeContent({ body, contentEncoding }, { maxBytes: MAX_DOCUMENT_BYTES });
      if (decoded.outcome === "too-large") throw new VastFault(301, TOO_LARGE);
      if (decoded.outcome === "undecodable") throw new VastFault(100, decoded.detail);
      bytesLeft -= decoded.body.byteLength;
      if (bytesLeft < 0) throw new VastFault(300, `more than ${MAX_BYTES / 1024 / 1024} MiB in all documents`);
      return parseDocument(turns, decoded.body, { url, contentType, drops });
    }
    throw new VastFault(301, `more than ${MAX_REDIRECTS} redirects`);
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

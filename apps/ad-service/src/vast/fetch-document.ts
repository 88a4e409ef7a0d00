import type { Document } from "@xmldom/xmldom";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { fillMacros, type Macros } from "./fill-macros.ts";
import { parseDocument, VastFault } from "./parse-document.ts";

/** For all hops of one tag together. */
const TOTAL_MS = 5000;
/** Redirects and the wrappers of several ads included: a tag must not make us call whole networks. */
const MOST_REQUESTS = 16;
const MOST_REDIRECTS = 5;
const MOST_DOCUMENT_BYTES = 512 * 1024;

export interface DocumentFetcher {
  fetchVAST(asked: { url: string }): Promise<Document>;
  /** What went wrong with the tag at an address. */
  faults: ReadonlyMap<string, VastFault>;
}

/** Fetches what one tag leads to, within one deadline. The viewer's browser is named, the viewer's address is not. */
export function documentFetcher(
  requests: Pick<GuardedRequests, "guardedRequest">,
  { macros, totalMs = TOTAL_MS }: { macros: () => Macros; totalMs?: number },
): DocumentFetcher {
  const endsAt = performance.now() + totalMs;
  const faults = new Map<string, VastFault>();
  let left = MOST_REQUESTS;

  async function fetchOnce(url: string) {
    const leftMs = endsAt - performance.now();
    if (leftMs < 1) throw new VastFault(301, `nothing within ${totalMs} ms`);
    if (--left < 0) throw new VastFault(300, `more than ${MOST_REQUESTS} requests`);
    const { userAgent = "" } = macros();
    return requests.guardedRequest({
      url,
      method: "GET",
      purpose: "vast",
      headers: headersFor(userAgent),
      mostBodyBytes: MOST_DOCUMENT_BYTES,
      totalTimeoutMs: leftMs,
    });
  }

  async function follow(template: string): Promise<Document> {
    let url = fillMacros(template, macros());
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const result = await fetchOnce(url);
      if (result.outcome === "failed" && result.location !== undefined) {
        const next = URL.parse(result.location, url);
        if (!next) throw new VastFault(301, "a redirect to no address");
        url = next.href;
        continue;
      }
      if (result.outcome === "failed") throw new VastFault(301, `${result.errorClass}: ${result.detail}`);
      if (result.status === 204) throw new VastFault(303, "an answer without content");
      if (result.status !== 200) throw new VastFault(301, `status ${result.status}`);
      if (!result.body) throw new VastFault(301, "more than 512 KiB, or broken off");
      if (result.body.byteLength === 0) throw new VastFault(303, "an empty answer");
      return parseDocument(result.body);
    }
    throw new VastFault(301, `more than ${MOST_REDIRECTS} redirects`);
  }

  return {
    faults,
    async fetchVAST({ url }) {
      try {
        return await follow(url);
      } catch (error) {
        if (error instanceof VastFault) faults.set(url, error);
        throw error;
      }
    },
  };
}

/** What IAB asks of servers that speak for a device; `X-Device-IP` is left out on purpose. */
export function headersFor(userAgent: string): Record<string, string> {
  const device = userAgent.replace(/[^\x20-\x7e]/g, "").slice(0, 512);
  return {
    accept: "application/xml, text/xml, */*",
    "user-agent": "Intermission",
    ...(device && { "x-device-user-agent": device }),
  };
}

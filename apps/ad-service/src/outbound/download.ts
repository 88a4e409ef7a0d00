import type { Writable } from "node:stream";
import type { GuardedRequests } from "./guarded-request.ts";

const LONGEST_DOWNLOAD_MS = 5 * 60_000;
const MOST_REDIRECTS = 5;

export interface DownloadRequest {
  url: string;
  into: Writable;
  signal: AbortSignal;
  /** Bytes beyond this number are not read. */
  mostBytes: number;
}

/**
 * Downloads a video into a stream, which stays open. Redirects, like the first address, may lead to public addresses
 * only. "refused": the address returned no video, which its owner can correct.
 */
export async function downloadVideo(
  { guardedRequest }: Pick<GuardedRequests, "guardedRequest">,
  { url: first, into, signal, mostBytes }: DownloadRequest,
): Promise<{ outcome: "downloaded" } | { outcome: "refused"; message: string }> {
  const refused = (message: string) => ({ outcome: "refused", message }) as const;
  const endsAt = performance.now() + LONGEST_DOWNLOAD_MS;
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const result = await guardedRequest({
      ...{ url, method: "GET", purpose: "video", signal, bodyTo: into, mostBodyBytes: mostBytes },
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
  return refused(`${first} was redirected more than ${MOST_REDIRECTS} times`);
}

import { basename } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { type AddCreativeDeps, type AddCreativeOutcome, addCreative, MOST_VIDEO_BYTES } from "./add-creative.ts";

export interface FetchDeps extends AddCreativeDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
}

const LONGEST_FETCH_MS = 5 * 60_000;
const MOST_REDIRECTS = 5;
/** Enough for `addCreative` to detect that the file is too large; it reads no further. */
const MOST_FETCHED_BYTES = MOST_VIDEO_BYTES + 1024 * 1024;

/** The address returned no video: the operator can correct it. */
class FetchFault extends Error {}

/**
 * Fetches a video once, now, and adds it like an upload: this service serves it, and it does not change with its
 * address.
 */
export async function addCreativeByAddress(
  { requests, ...deps }: FetchDeps,
  { url, now }: { url: string; now: Date },
): Promise<AddCreativeOutcome> {
  const name = basename(URL.parse(url)?.pathname ?? "") || "video.mp4";
  const bytes = new PassThrough();
  // The reader of the stream gets the error, later or never; without a listener the error would be unhandled.
  bytes.on("error", () => {});
  const enough = new AbortController();
  const fetching = pourVideo(requests, { url, into: bytes, signal: enough.signal }).then(
    () => bytes.end(),
    (error) => bytes.destroy(error),
  );
  try {
    return await addCreative(deps, { bytes, name, now });
  } catch (error) {
    if (error instanceof FetchFault) return { outcome: "refused", message: error.message };
    throw error;
  } finally {
    enough.abort();
    await fetching;
  }
}

/** Redirects, like the first address, may lead to public addresses only. */
async function pourVideo(
  requests: FetchDeps["requests"],
  { url: first, into, signal }: { url: string; into: Writable; signal: AbortSignal },
): Promise<void> {
  const endsAt = performance.now() + LONGEST_FETCH_MS;
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const result = await requests.guardedRequest({
      ...{ url, method: "GET", purpose: "video", signal, bodyTo: into, mostBodyBytes: MOST_FETCHED_BYTES },
      headers: { accept: "video/mp4, video/webm, */*;q=0.1", "user-agent": "Intermission" },
      totalTimeoutMs: Math.max(1, endsAt - performance.now()),
    });
    if (result.outcome === "answered") {
      if (result.status !== 200) throw new FetchFault(`${url} answered ${result.status} instead of a video`);
      if (!result.isWhole && !into.destroyed) throw new FetchFault(`${url} broke off, or took longer than 5 minutes`);
      return;
    }
    const next = result.location === undefined ? null : URL.parse(result.location, url);
    if (!next) throw new FetchFault(`${url} could not be fetched: ${result.errorClass}, ${result.detail}`);
    url = next.href;
  }
  throw new FetchFault(`${first} was redirected more than ${MOST_REDIRECTS} times`);
}

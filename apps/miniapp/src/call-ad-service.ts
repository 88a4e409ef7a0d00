export const LONGEST_CALL_MS = 10_000;
const MOST_KEEPALIVE_CHARACTERS = 20_000;

/** Posts to the player API, and is small enough to stand inline in the page; what came back is read by the client. */
export function callAdService(path: string, request: object): Promise<Response> {
  const body = JSON.stringify(request);
  return fetch(sessionsUrl(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    // Outlives the page: a close is often the last thing that happens in it. Browsers bound what they keep.
    keepalive: body.length < MOST_KEEPALIVE_CHARACTERS,
    signal: AbortSignal.timeout?.(LONGEST_CALL_MS) ?? null,
  });
}

/** The page's own origin, unless the page lies elsewhere and names the service. */
export function sessionsUrl(path: string): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="ad-service"]')?.content ?? "";
  return `${named}/player/v1/sessions${path}`;
}

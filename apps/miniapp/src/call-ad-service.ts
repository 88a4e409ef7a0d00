export const LONGEST_CALL_MS = 10_000;
const MOST_KEEPALIVE_CHARACTERS = 20_000;

export interface Reply<Body> {
  readonly response: Response;
  /** Where the service refused, its error. */
  readonly body: Body & {
    readonly error?: { readonly code: string; readonly details?: { readonly bot_link?: string } };
  };
}

/**
 * Posts to the player API, and is small enough to stand inline in the page; what came back is judged by the client. The
 * body is read at once: one that waits for its reader is lost with the call's time.
 */
export async function callAdService<Body>(path: string, request: object): Promise<Reply<Body>> {
  const body = JSON.stringify(request);
  const response = await fetch(sessionsUrl(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    // Outlives the page: a close is often the last thing that happens in it. Browsers bound what they keep.
    keepalive: body.length < MOST_KEEPALIVE_CHARACTERS,
    signal: AbortSignal.timeout?.(LONGEST_CALL_MS) ?? null,
  });
  return { response, body: await response.json() };
}

/** The page's own origin, unless the page lies elsewhere and names the service. */
export function sessionsUrl(path: string): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="ad-service"]')?.content ?? "";
  return `${named}/player/v1/sessions${path}`;
}

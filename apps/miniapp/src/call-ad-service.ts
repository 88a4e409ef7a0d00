const MAX_KEEPALIVE_CHARACTERS = 20_000;

export interface Reply<Body> {
  readonly response: Response;
  /** The service's answers have its time; `error` is set if it refused the request. */
  readonly body: Body & {
    readonly server_time?: string;
    readonly error?: { readonly code: string; readonly details?: { readonly bot_link?: string } };
  };
}

/**
 * Posts to the player API. Small enough to be inlined into the page; the client interprets the response and limits the time.
 * The body is read immediately: after the call's timeout an unread body is lost.
 */
export async function callAdService<Body>(
  path: string,
  request: object,
  signal: AbortSignal | null = null,
): Promise<Reply<Body>> {
  const body = JSON.stringify(request);
  const response = await fetch(sessionsUrl(path), {
    method: "POST",
    body,
    // Lets the request outlive the page: a close is often the page's last action. Browsers limit the size of such bodies,
    // and Chrome 80 sends none with a JSON content type.
    keepalive: body.length < MAX_KEEPALIVE_CHARACTERS,
    signal,
  });
  return { response, body: await response.json() };
}

/** A URL on the page's own origin, unless the page names another ad service in its `ad-service` meta element. */
export function sessionsUrl(path: string): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="ad-service"]')?.content ?? "";
  return `${named}/player/v1/sessions${path}`;
}

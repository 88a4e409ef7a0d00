import type { CustomFetchOptions } from "openid-client";

const MAX_BODY_BYTES = 256 * 1024;
const ANSWER_MS = 10_000;

/**
 * Requests to a service that the operator names in the settings, as an OpenID provider. It may be in a private network, unlike
 * the addresses of publishers and advertisers, so the guard of addresses does not apply. No redirect is followed, an answer
 * has 10 s and 256 KiB.
 */
export async function providerFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const timeout = AbortSignal.timeout(ANSWER_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const { body = null, ...rest } = options;
  // Typed for any memory, while fetch takes what is not shared with other threads.
  const ownBody = body instanceof Uint8Array ? Buffer.from(body) : body;
  const response = await fetch(url, { ...rest, body: ownBody, signal, redirect: "manual" });
  const { status, statusText, headers } = response;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    if (length > MAX_BODY_BYTES)
      throw new Error(`the answer of ${new URL(url).host} is longer than ${MAX_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return new Response(length === 0 ? null : Buffer.concat(parts), { status, statusText, headers });
}

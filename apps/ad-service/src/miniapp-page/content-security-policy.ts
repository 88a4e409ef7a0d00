import type { BuiltPage } from "./load-built-page.ts";

/** Telegram's web clients show mini-apps in a frame; its other clients open them directly. */
const TELEGRAM_FRAMES = ["https://web.telegram.org", "https://*.telegram.org"];

/**
 * The policy of one bot's page: its own files, this service, the publisher's API of that bot, and the sources of videos
 * elsewhere. An address that is not a plain http(s) URL is omitted, so that a bot's setting can never widen the policy.
 */
export function contentSecurityPolicy(
  page: Pick<BuiltPage, "scriptHashes" | "styleHashes">,
  origins: { service: string; publisherApi?: string | undefined; demoChat?: string | undefined },
  media: readonly string[] = [],
): string {
  const service = originOf(origins.service);
  const directives = {
    "default-src": ["'none'"],
    "script-src": ["'self'", ...page.scriptHashes],
    "style-src": ["'self'", ...page.styleHashes],
    "img-src": ["'self'", "data:", service],
    "media-src": ["'self'", service, ...media],
    "font-src": ["'self'"],
    "connect-src": ["'self'", service, originOf(origins.publisherApi)],
    "frame-ancestors": [...TELEGRAM_FRAMES, originOf(origins.demoChat)],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
  };
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources.filter((source) => source !== undefined)].join(" "))
    .join("; ");
}

function originOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { protocol, origin } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? origin : undefined;
}

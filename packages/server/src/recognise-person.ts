import { recogniseAgent } from "./recognise-agent.ts";

export type Visitor =
  | { kind: "person" }
  /** May be a person: one tap decides. */
  | {
      kind: "doubtful";
      reason:
        | "embedded"
        | "scripted"
        | "no-language"
        | "foreign-form"
        | "no-token"
        // By its user agent: a browser with a word of the crawlers' list, or an unknown agent.
        | "crawler-like"
        | "unknown-agent";
    }
  | { kind: "machine"; reason: "head" | "prefetch" | "empty-agent" | "crawler" | "library" };

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Classifies the visitor by the request alone. Machines are the requests that identify themselves as such, above all
 * messengers' previews: they fetch each link a bot sends, seconds before its user can tap. A forged request passes
 * here; the limits bound what it earns.
 */
export function recognisePerson(method: string, headers: RequestHeaders, ownOrigin?: string): Visitor {
  const agent = text(headers["user-agent"]);
  if (method === "HEAD") return { kind: "machine", reason: "head" };
  if (isPrefetch(headers)) return { kind: "machine", reason: "prefetch" };
  if (agent === "") return { kind: "machine", reason: "empty-agent" };
  const recognised = recogniseAgent(agent);
  if (recognised === "crawler" || recognised === "library") return { kind: "machine", reason: recognised };

  // Older browsers send none of the Sec-Fetch headers; in browsers that do, a page cannot forge them.
  const destination = text(headers["sec-fetch-dest"]);
  if (destination !== "" && destination !== "document") return { kind: "doubtful", reason: "embedded" };
  if (method === "POST")
    return isOwnForm(headers, ownOrigin) ? { kind: "person" } : { kind: "doubtful", reason: "foreign-form" };
  if (recognised !== "browser") return { kind: "doubtful", reason: recognised };
  if (isScripted(headers)) return { kind: "doubtful", reason: "scripted" };
  if (text(headers["accept-language"]) === "") return { kind: "doubtful", reason: "no-language" };
  return { kind: "person" };
}

function isPrefetch(headers: RequestHeaders): boolean {
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]].map(text);
  return purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose));
}

/** Another site's page navigated the browser here without a tap. Only Chromium reports whether there was one. */
function isScripted(headers: RequestHeaders): boolean {
  const isChromium = headers["sec-ch-ua"] !== undefined;
  return isChromium && text(headers["sec-fetch-site"]) === "cross-site" && text(headers["sec-fetch-user"]) !== "?1";
}

/**
 * A browser that omits or hides the form's origin is accepted here: the form's token decides. A proxy may have
 * rewritten `Host`, so the configured address of the links counts as our own, too.
 */
function isOwnForm(headers: RequestHeaders, ownOrigin: string | undefined): boolean {
  const site = text(headers["sec-fetch-site"]);
  if (site !== "") return site === "same-origin";
  const origin = text(headers.origin);
  if (origin === "" || origin === "null") return true;
  if (!URL.canParse(origin)) return false;
  const { origin: canonical, host } = new URL(origin);
  return canonical === ownOrigin || host === text(headers.host);
}

function text(header: string | string[] | undefined): string {
  return (typeof header === "string" ? header : (header?.join(",") ?? "")).trim();
}

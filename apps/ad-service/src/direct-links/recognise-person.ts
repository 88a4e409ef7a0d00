import { recogniseAgent } from "./recognise-agent.ts";

export type Visitor =
  | { kind: "person" }
  /** May be a person: one tap tells. */
  | {
      kind: "doubtful";
      reason:
        | "embedded"
        | "scripted"
        | "no-language"
        | "foreign-form"
        | "no-token"
        // Of the agent: a browser that holds a word of the crawlers' list, or nothing that is known.
        | "crawler-like"
        | "unknown-agent";
    }
  | { kind: "machine"; reason: "head" | "prefetch" | "empty-agent" | "crawler" | "library" };

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Who asks, told by the request alone. Machines are what says so of itself, and messengers' previews above all: they
 * fetch each link a bot sends, seconds before its user can tap. A forger passes here; the limits bound what that earns.
 */
export function recognisePerson(method: string, headers: RequestHeaders, ownOrigin?: string): Visitor {
  const agent = text(headers["user-agent"]);
  if (method === "HEAD") return { kind: "machine", reason: "head" };
  if (isPrefetch(headers)) return { kind: "machine", reason: "prefetch" };
  if (agent === "") return { kind: "machine", reason: "empty-agent" };
  const recognised = recogniseAgent(agent);
  if (recognised === "crawler" || recognised === "library") return { kind: "machine", reason: recognised };

  // Older browsers send none of the Sec-Fetch headers; those that do cannot be made to lie by a page.
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

/** Another site's page moved the browser here without a tap. Only Chromium says whether there was one. */
function isScripted(headers: RequestHeaders): boolean {
  const isChromium = headers["sec-ch-ua"] !== undefined;
  return isChromium && text(headers["sec-fetch-site"]) === "cross-site" && text(headers["sec-fetch-user"]) !== "?1";
}

/**
 * A browser that says nothing of the form's origin, or hides it, is believed here: the form's token tells. `Host` may have
 * been written by a proxy, so the address that the links are given out with is our own, too.
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

import { createHash } from "node:crypto";
import { directionOf, pageLanguage } from "@intermission/ad-core/page-language";
import { html, htmlPage, htmlPagePolicy, Markup } from "@intermission/server/html-page";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type FriendlyPage, friendlyPageTexts } from "./friendly-page-texts.ts";

/** Paths that programs call. A person may open any other path. */
const apis = /^\/+(client|player|operator|postback|media|metrics|healthz|readyz)(\/|$)/;

/** Whether a person's browser asks for a page. */
function isForPerson(request: FastifyRequest, path: string): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || apis.test(path)) return false;
  return isMiniapp(path) || request.headers.accept?.includes("text/html") === true;
}

const isMiniapp = (path: string) => /^\/+app(\/|$)/.test(path);

/**
 * Answers an unknown address with a page, but only in a person's browser. Doubled slashes, as in `//app/7`, come from a
 * configured address with one slash too many; they are redirected to the mini-app.
 */
export function errorPage(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply | undefined {
  const [path = "", ...query] = request.url.split("?");
  if (!isForPerson(request, path)) return undefined;
  const single = path.replace(/\/{2,}/g, "/");
  if (isMiniapp(path) && single !== path) return redirect(reply, [single, ...query].join("?"));
  return sendFriendlyPage(request, reply, status, "unknown-address");
}

/** Answers a person's browser while the service starts. */
export function startingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const [path = ""] = request.url.split("?");
  return isForPerson(request, path) ? sendFriendlyPage(request, reply, 503, "unavailable") : undefined;
}

/** Never cached: what is at an address may change. */
export function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(address, 302);
}

/** A build takes some ten seconds. */
export const BUILD_RETRY_SECONDS = 3;

/** Not the header `Refresh`: at an address with a #, as that of a sign-in link, browsers load nothing again by it. */
const reload = `setTimeout(() => location.reload(), ${BUILD_RETRY_SECONDS * 1000});`;
const reloadHash = `sha256-${createHash("sha256").update(reload).digest("base64")}`;

export function sendFriendlyPage(request: FastifyRequest, reply: FastifyReply, status: number, page: FriendlyPage) {
  const scripts = page === "being-built" ? `; script-src '${reloadHash}'` : "";
  setPageHeaders(reply, `${htmlPagePolicy}; form-action 'none'${scripts}`);
  if (status === 503) reply.header("retry-after", page === "being-built" ? String(BUILD_RETRY_SECONDS) : "60");
  reply.header("vary", "accept-language");
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(friendlyPage(page, request.headers["accept-language"]));
}

export function setPageHeaders(reply: FastifyReply, policy: string): void {
  reply.header("content-security-policy", policy);
  reply.header("cache-control", "no-cache");
  reply.header("referrer-policy", "no-referrer");
  reply.header("x-content-type-options", "nosniff");
}

/** For the operator of the service. */
const hints: Partial<Record<FriendlyPage, string>> = {
  "no-bot": "/app/<bot id>",
  "not-built": "npm run build",
};

/** A complete HTML page, without scripts but the one that reloads it, in the browser's most preferred language among ours. */
export function friendlyPage(page: FriendlyPage, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, text } = friendlyPageTexts[language][page];
  const hint = hints[page];
  const script = page === "being-built" ? html`\n<script>${new Markup(reload)}</script>` : "";
  const hintLine = hint ? html`\n<p><code dir="ltr">${hint}</code></p>` : "";
  return htmlPage({
    language,
    direction: directionOf(language),
    title,
    card: html`<h1>${title}</h1>\n<p>${text}</p>${hintLine}${script}`,
  });
}

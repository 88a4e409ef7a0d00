import { directionOf, pageLanguage } from "@intermission/ad-core/page-language";
import { html, htmlPage, htmlPagePolicy } from "@intermission/server/html-page";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type FriendlyPage, friendlyPageTexts } from "./friendly-page-texts.ts";

/** Paths that programs call. A person may open any other path. */
const apis = /^\/+(client|player|operator|postback|media|metrics|healthz|readyz)(\/|$)/;

/**
 * Answers an unknown address with a page, but only in a person's browser. Doubled slashes, as in `//app/7`, come from a
 * configured address with one slash too many; they are redirected to the mini-app.
 */
export function errorPage(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply | undefined {
  const [path = "", ...query] = request.url.split("?");
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || apis.test(path)) return undefined;
  const single = path.replace(/\/{2,}/g, "/");
  const isMiniapp = /^\/app(\/|$)/.test(single);
  if (!isMiniapp && !request.headers.accept?.includes("text/html")) return undefined;
  if (isMiniapp && single !== path) return redirect(reply, [single, ...query].join("?"));
  return sendFriendlyPage(request, reply, status, "unknown-address");
}

/** Never cached: what is at an address may change. */
export function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(address, 302);
}

export function sendFriendlyPage(request: FastifyRequest, reply: FastifyReply, status: number, page: FriendlyPage) {
  setPageHeaders(reply, `${htmlPagePolicy}; form-action 'none'`);
  if (status === 503) reply.header("retry-after", "60");
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

/** A complete HTML page without scripts, in the browser's most preferred language among ours. */
export function friendlyPage(page: FriendlyPage, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, text } = friendlyPageTexts[language][page];
  const hint = hints[page];
  const hintLine = hint ? html`\n<p><code dir="ltr">${hint}</code></p>` : "";
  return htmlPage({
    language,
    direction: directionOf(language),
    title,
    card: html`<h1>${title}</h1>\n<p>${text}</p>${hintLine}`,
  });
}

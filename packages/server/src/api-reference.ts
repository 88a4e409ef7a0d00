import { createHash } from "node:crypto";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";

interface ApiReferenceOptions {
  readonly title: string;
  /** The OpenAPI documents of this server, by their path, such as `/client/v1/openapi.json`. */
  readonly documents: readonly { readonly title: string; readonly path: string }[];
}

const PREFIX = "/docs";

/**
 * Serves a page that shows this server's OpenAPI documents and can call them, at `/docs`. All of it comes from this server,
 * and its content security policy forbids any other address. The library takes about 0.1 s and 22 MB, so it is loaded with
 * the first request for the page.
 */
export function serveApiReference(app: FastifyInstance, options: ApiReferenceOptions): void {
  let loading: Promise<FastifyInstance> | undefined;
  const answer = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    loading ??= loadPages(options);
    const { statusCode, headers, rawPayload } = await (await loading).inject(url);
    if (statusCode === 404) return reply.callNotFound();
    const isPage = String(headers["content-type"]).startsWith("text/html");
    reply.code(statusCode).header("cache-control", isPage ? "no-cache" : "max-age=86400");
    for (const name of ["content-type", "location"]) if (headers[name] !== undefined) reply.header(name, headers[name]);
    if (isPage) reply.header("content-security-policy", policyOf(String(rawPayload)));
    return reply.send(rawPayload);
  };
  for (const path of [PREFIX, `${PREFIX}/`, `${PREFIX}/*`]) app.get(path, answer);
}

/** The library is a plugin, which a server that listens cannot take any more, so it gets an instance of its own. */
async function loadPages({ title, documents }: ApiReferenceOptions): Promise<FastifyInstance> {
  const { default: apiReference } = await import("@scalar/fastify-api-reference");
  const pages = fastify({ exposeHeadRoutes: false });
  await pages.register(apiReference, {
    routePrefix: PREFIX,
    configuration: {
      pageTitle: title,
      // Browsers would request /favicon.ico.
      favicon: "data:,",
      // Relative to the page, so that they work below a proxy's path too.
      sources: documents.map(({ title, path }) => ({ title, slug: slugOf(title), url: `..${path}` })),
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      agent: { disabled: true },
      mcp: { disabled: true },
      documentDownloadType: "json",
    },
  });
  return pages;
}

function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(/\W+/g, "-");
}

/** Allows the page's own scripts by their hashes, and nothing from another address. The library styles its elements inline. */
function policyOf(page: string): string {
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

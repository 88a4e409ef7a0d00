import { join } from "node:path";
import { notFound } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { type BuiltPage, isBeingBuilt, openServedPage, type ServedPage } from "./built-page.ts";
import { sendFriendlyPage } from "./friendly-page.ts";
import { sendAsset, sendHtml } from "./send-built-files.ts";

interface PreviewDeps {
  /** Where the mini-app was built; the preview is a build in it. */
  miniappDir: string;
  isPlainHttpAllowed: boolean;
}

/**
 * `GET /app/preview`: the mini-app's player for the console's frame, and its files under `/app/preview/assets/`. It contains no
 * ad, the console sends it one; and it opens no view, so nothing is counted.
 */
export async function previewRoutes(
  scope: FastifyInstance,
  { miniappDir, isPlainHttpAllowed }: PreviewDeps,
): Promise<void> {
  const folder = join(miniappDir, "preview");
  const page: ServedPage = { folder, built: undefined };
  // It is a part of the mini-app's build.
  const open = async () => ((await isBeingBuilt(miniappDir)) ? page.built : openServedPage(page));
  await open();

  scope.get<{ Params: { "*": string } }>("/app/preview/assets/*", async (request, reply) => {
    const asset = page.built?.assets.get(request.params["*"]);
    if (asset === undefined) throw notFound("there is no such file");
    return sendAsset(request, reply, asset);
  });

  scope.get("/app/preview", async (request, reply) => {
    const built = await open();
    if (!built) return sendFriendlyPage(request, reply, 503, "not-built");
    reply.header("permissions-policy", "autoplay=(self), camera=(), microphone=(), geolocation=(), payment=()");
    reply.header("x-robots-tag", "noindex");
    return sendHtml(request, reply, { html: built.html, policy: previewPolicy(built, { isPlainHttpAllowed }) });
  });
}

/**
 * Only pages of this service may show it in a frame; videos and pictures may be of any host, since a VAST tag is previewed
 * before it is added.
 */
function previewPolicy(
  { scriptHashes, styleHashes }: Pick<BuiltPage, "scriptHashes" | "styleHashes">,
  { isPlainHttpAllowed }: Pick<PreviewDeps, "isPlainHttpAllowed">,
): string {
  const anywhere = isPlainHttpAllowed ? "https: http:" : "https:";
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...scriptHashes].join(" "),
    ["style-src 'self'", ...styleHashes].join(" "),
    `img-src 'self' data: ${anywhere}`,
    `media-src 'self' ${anywhere}`,
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return policy.join("; ");
}

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { NotReady } from "@intermission/server/health";

export interface BuiltPage {
  html: string;
  /** CSP sources, each `'sha256-…'`. */
  scriptHashes: string[];
  styleHashes: string[];
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc\s*=)[^>]*>([\s\S]*?)<\/script>/gi;
const INLINE_STYLE = /<style[^>]*>([\s\S]*?)<\/style>/gi;

/** Reads the mini-app's page and hashes its inline scripts and styles. Undefined if the folder contains no build. */
export async function loadBuiltPage(miniappDir: string): Promise<BuiltPage | undefined> {
  let html: string;
  try {
    html = await readFile(join(miniappDir, "index.html"), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`the mini-app's page in ${miniappDir} could not be read`, { cause: error });
  }
  return { html, scriptHashes: hashesOf(html, INLINE_SCRIPT), styleHashes: hashesOf(html, INLINE_STYLE) };
}

/** Throws `NotReady` if this service's address is given to users for the mini-app, and it was never built. */
export async function requireBuiltPage(
  config: Readonly<Record<"miniappDir" | "miniappUrl" | "publicUrl", string>>,
): Promise<void> {
  const { miniappDir, miniappUrl, publicUrl } = config;
  if (new URL(miniappUrl).host !== new URL(publicUrl).host) return;
  if (await stat(join(miniappDir, "index.html")).catch(() => undefined)) return;
  throw new NotReady(`there is no built mini-app in ${miniappDir}: run \`npm run build\`, or set MINIAPP_DIR`);
}

function hashesOf(html: string, inline: RegExp): string[] {
  return [...html.matchAll(inline)].map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
}

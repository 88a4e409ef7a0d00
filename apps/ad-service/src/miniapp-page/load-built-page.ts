import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface BuiltPage {
  html: string;
  /** CSP sources, each `'sha256-…'`. */
  scriptHashes: string[];
  styleHashes: string[];
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc\s*=)[^>]*>([\s\S]*?)<\/script>/gi;
const INLINE_STYLE = /<style[^>]*>([\s\S]*?)<\/style>/gi;

/** Reads the mini-app's page and hashes what stands inline in it. Undefined where no build lies in the folder. */
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

function hashesOf(html: string, inline: RegExp): string[] {
  return [...html.matchAll(inline)].map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
}

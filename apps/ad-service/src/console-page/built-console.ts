import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type BuiltPage, isBeingBuilt } from "../miniapp-page/built-page.ts";

/**
 * Only what this server sends: nothing inline but the page's own hashed script, nothing of other hosts, and no frame around it.
 * In a frame it shows the mini-app's preview.
 */
export function consolePolicy({ scriptHashes, styleHashes }: Pick<BuiltPage, "scriptHashes" | "styleHashes">): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...scriptHashes].join(" "),
    ["style-src 'self'", ...styleHashes].join(" "),
    "img-src 'self' data:",
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Undefined: the console is built, or is being built. */
export async function missingConsole(consoleDir: string): Promise<string | undefined> {
  if (await isBeingBuilt(consoleDir)) return undefined;
  if (await stat(join(consoleDir, "index.html")).catch(() => undefined)) return undefined;
  return `there is no built console in ${consoleDir}: run \`npm run build\`, or set CONSOLE_DIR`;
}

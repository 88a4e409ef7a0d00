import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BriefCache, briefCache } from "@intermission/server/brief-cache";
import { NotReady } from "@intermission/server/health";
import { generate } from "lean-qr";
import { toSvgSource } from "lean-qr/extras/svg";
import { mediaAddress } from "../creatives/media-storage.ts";

export interface BuiltPage {
  html: string;
  /** CSP sources, each `'sha256-…'`. */
  scriptHashes: string[];
  styleHashes: string[];
  /** The files that the page names, as they were when the page was read: a later build replaces them on the disk. */
  assets: ReadonlyMap<string, BuiltAsset>;
}

/** A page that this server sends, as it was when it was first needed: later builds do not change it. */
export interface ServedPage {
  readonly folder: string;
  built: BuiltPage | undefined;
}

export interface BuiltAsset {
  bytes: Buffer;
  mediaType: string;
  brotli: Buffer | undefined;
  gzip: Buffer | undefined;
}

const mediaTypes: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".webp": "image/webp",
};

const INLINE_SCRIPT = /<script(?![^>]*\ssrc\s*=)[^>]*>([\s\S]*?)<\/script>/gi;
const INLINE_STYLE = /<style[^>]*>([\s\S]*?)<\/style>/gi;

/**
 * Whether a process is writing the build in this folder: `npm start` serves meanwhile. The file beside the folder has the
 * process's id; what a killed process left means nothing.
 */
export async function isBeingBuilt(folder: string): Promise<boolean> {
  const builder = Number(await readFile(`${folder}.building`, "utf8").catch(() => "0"));
  if (!Number.isSafeInteger(builder) || builder <= 0) return false;
  try {
    return process.kill(builder, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Undefined: there is no build, or none that is complete. */
export async function openServedPage(page: ServedPage): Promise<BuiltPage | undefined> {
  if (page.built === undefined && !(await isBeingBuilt(page.folder))) page.built = await loadBuiltPage(page.folder);
  return page.built;
}

/** Reads the mini-app's page and hashes its inline scripts and styles. Undefined if the folder contains no build. */
async function loadBuiltPage(miniappDir: string): Promise<BuiltPage | undefined> {
  let html: string;
  try {
    html = await readFile(join(miniappDir, "index.html"), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`the mini-app's page in ${miniappDir} could not be read`, { cause: error });
  }
  const assets = await readAssets(join(miniappDir, "assets"));
  return { html, scriptHashes: hashesOf(html, INLINE_SCRIPT), styleHashes: hashesOf(html, INLINE_STYLE), assets };
}

/** All files of a build have some 500 kB. */
async function readAssets(folder: string): Promise<Map<string, BuiltAsset>> {
  const names = await readdir(folder).catch((): string[] => []);
  const read = (name: string) => (names.includes(name) ? readFile(join(folder, name)) : undefined);
  const assets = new Map<string, BuiltAsset>();
  for (const name of names) {
    const mediaType = mediaTypes[extname(name)];
    const bytes = mediaType === undefined ? undefined : await read(name);
    if (mediaType === undefined || bytes === undefined) continue;
    assets.set(name, { bytes, mediaType, brotli: await read(`${name}.br`), gzip: await read(`${name}.gz`) });
  }
  return assets;
}

/** Throws `NotReady` if this service's address is given to users for the mini-app, and it was never built. */
export async function requireBuiltPage(
  config: Readonly<Record<"miniappDir" | "miniappUrl" | "publicUrl", string>>,
): Promise<void> {
  const { miniappDir, miniappUrl, publicUrl } = config;
  if (new URL(miniappUrl).host !== new URL(publicUrl).host) return;
  if (await isBeingBuilt(miniappDir)) throw new NotReady(`the mini-app in ${miniappDir} is being built`);
  if (await stat(join(miniappDir, "index.html")).catch(() => undefined)) return;
  throw new NotReady(`there is no built mini-app in ${miniappDir}: run \`npm run build\`, or set MINIAPP_DIR`);
}

function hashesOf(html: string, inline: RegExp): string[] {
  return [...html.matchAll(inline)].map(([, text = ""]) => sourceOf(text));
}

function sourceOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Telegram's web clients show mini-apps in a frame; its other clients open them directly. */
export const TELEGRAM_FRAMES = ["https://web.telegram.org", "https://*.telegram.org"];

/**
 * The policy of one bot's page: its own files, this service, the publisher's API of that bot, and the sources of videos
 * and pictures elsewhere. An address that is not a plain http(s) URL is omitted, so that a bot's setting can never widen
 * the policy.
 */
export function contentSecurityPolicy(
  page: Pick<BuiltPage, "scriptHashes" | "styleHashes">,
  origins: { service: string; publisherApi?: string | undefined },
  /** Whose pages may show it in a frame; none: no page. */
  framedBy: readonly (string | undefined)[],
  elsewhere: SourcesElsewhere = { media: [], pictures: [] },
): string {
  const service = originOf(origins.service);
  const directives = {
    "default-src": ["'none'"],
    "script-src": ["'self'", ...page.scriptHashes],
    "style-src": ["'self'", ...page.styleHashes],
    "img-src": ["'self'", "data:", service, ...elsewhere.pictures],
    "media-src": ["'self'", service, ...elsewhere.media],
    "font-src": ["'self'"],
    "connect-src": ["'self'", service, originOf(origins.publisherApi)],
    "frame-ancestors": framedBy.length > 0 ? framedBy : ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
  };
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources.filter((source) => source !== undefined)].join(" "))
    .join("; ");
}

/** What the page of a bot calls. */
export function originsOf({ publisherApiUrl }: Pick<Bot, "publisherApiUrl">, { publicUrl }: { publicUrl: string }) {
  return { service: publicUrl, publisherApi: publisherApiUrl ?? undefined };
}

export function originOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { protocol, origin } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? origin : undefined;
}

const readSources = statement<{ source: string | null }>(
  "miniapp-page.media-sources",
  `select distinct case kind when 'vast' then 'vast' else substring(url from '^https?://[^/?#@]+') end as source
   from creatives where kind <> 'file'`,
);

export interface SourcesElsewhere {
  media: readonly string[];
  pictures: readonly string[];
}

/** A new tag plays for users who open the page after this time. */
const KEPT_MS = 2000;

/**
 * Sources other than this service, for the page's policy. Videos: the hosts of creatives by address. Videos and pictures:
 * any https host if there is a VAST tag, since the hosts of its ads are unknown until it is requested. The cache has
 * one entry, `all`.
 */
export function sourcesElsewhere(
  database: Database,
  { isPlainHttpAllowed }: { isPlainHttpAllowed: boolean },
): BriefCache<SourcesElsewhere> {
  const anywhere = isPlainHttpAllowed ? ["https:", "http:"] : ["https:"];
  return briefCache<SourcesElsewhere>({
    maxAgeMs: KEPT_MS,
    maxEntries: 1,
    async load() {
      const found = (await database.run(readSources, [])).flatMap(({ source }) => (source === null ? [] : [source]));
      if (found.includes("vast")) return { media: anywhere, pictures: anywhere };
      return { media: found.toSorted(), pictures: [] };
    },
  });
}

export interface EmbeddedVideo {
  fileName: string;
  url: string;
  posterUrl: string | undefined;
  width: number;
  height: number;
}

const ROOT = "<html ";
const SLOT = '<div class="video-slot">';

/**
 * Puts a video into the page's slot, so that the browser loads its first frame before any script runs. The page's script
 * reads the file's name from the root element, to ask for that file when it opens its view.
 */
export function embedVideo(html: string, { fileName, url, posterUrl, width, height }: EmbeddedVideo): string {
  const poster = posterUrl === undefined ? "" : ` poster="${escaped(posterUrl)}"`;
  const size = `width="${Number(width)}" height="${Number(height)}"`;
  // Only the metadata and the first frame: the view may choose another ad, or none.
  const video = `<video class="video" muted playsinline preload="metadata" ${size}${poster} src="${escaped(url)}"></video>`;
  // Functions, because replacement strings interpret "$&".
  return html.replace(ROOT, () => `${ROOT}data-video="${escaped(fileName)}" `).replace(SLOT, () => `${SLOT}${video}`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The address of the bot's chat. A username that is none of Telegram's form gives none, so that it can never become markup. */
export function botLink({ username }: Pick<Bot, "username">): string | undefined {
  return username !== null && /^\w{1,64}$/.test(username) ? `https://t.me/${username}` : undefined;
}

/** Inserts the origins whose pages may pass the frame a port, before the script that reads them. */
export function embedAppOrigins(html: string, origins: readonly string[]): string {
  return html.replace("<script", () => `<meta name="app-origins" content="${escaped(origins.join(" "))}" /><script`);
}

/** Puts the bot's address into the page, for readers who open it outside Telegram. */
export function embedBotLink(html: string, bot: Pick<Bot, "username">): string {
  const link = botLink(bot);
  return link === undefined ? html : html.replace("</head>", `<meta name="bot-link" content="${link}" /></head>`);
}

/** Names the publisher's privacy policy, by the relation that RFC 6903 registers. */
export function embedPrivacyPolicy(html: string, { privacyUrl }: Pick<Bot, "privacyUrl">): string {
  if (privacyUrl === null) return html;
  return html.replace("</head>", () => `<link rel="privacy-policy" href="${escaped(privacyUrl)}" /></head>`);
}

/**
 * Gives the page's style the bot's picture, so that it stands in the spinner before any script runs: `ui/pictures.css` of the mini-app.
 */
export function embedBotPicture(
  page: BuiltPage,
  { pictureFileName }: Pick<Bot, "pictureFileName">,
  publicUrl: string,
): Pick<BuiltPage, "html" | "scriptHashes" | "styleHashes"> {
  if (pictureFileName === null) return page;
  const { href } = new URL(mediaAddress(publicUrl, pictureFileName));
  // A parsed address has no quotes and no markup.
  const style = `:root{--bot-mark:"";--bot-picture:url("${href}")}`;
  return {
    html: page.html.replace("</head>", () => `<style>${style}</style></head>`),
    scriptHashes: page.scriptHashes,
    styleHashes: [...page.styleHashes, sourceOf(style)],
  };
}

/** A QR code as an SVG document, black on white, with the quiet zone that cameras need. */
export function qrCode(link: string): string {
  return toSvgSource(generate(link), { on: "#000", off: "#fff", padX: 4, padY: 4, xmlDeclaration: true });
}

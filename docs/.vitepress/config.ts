import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { defineConfig, type MarkdownOptions } from "vitepress";

/** READMEs that the site shows on a page of their own (`scripts/write-site-pages.ts`). Their paths begin at the root. */
const pageOf: Record<string, string> = {
  "packages/publisher/README.md": "./typescript.md",
  "clients/python/README.md": "./python.md",
  "clients/go/README.md": "./go.md",
  "examples/README.md": "./examples.md",
};

/**
 * Links of included README sections to `docs/` become links between pages. Links to other files of the repository become
 * text, since a reader of the site has no copy of them.
 */
const rewriteLinks: MarkdownOptions["config"] = (markdown) => {
  markdown.core.ruler.push("links-to-files", ({ tokens, env }) => {
    const folder = posix.dirname(String(env.relativePath ?? ""));
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== "link_open") continue;
      const link = token.attrGet("href") ?? "";
      const fromRoot = link.replace(/^(\.\.\/)+/, "");
      const [path = "", section] = fromRoot.split("#");
      const page = pageOf[path] && `${pageOf[path]}${section === undefined ? "" : `#${section}`}`;
      const href = pageOf[fromRoot] ?? page ?? link.replace(/^(\.\.\/)*docs\//, "./");
      token.attrSet("href", href);
      if (leadsOut(folder, href)) token.attrs = [];
    }
  });
};

function leadsOut(folder: string, href: string): boolean {
  if (/^([a-z]+:|#|\/)/i.test(href)) return false;
  const path = posix.normalize(posix.join(folder, href.replace(/[?#].*$/, "")));
  return !path.endsWith(".md") || path.startsWith("..") || !existsSync(join(import.meta.dirname, "..", path));
}

/** The anchor of a heading as GitHub makes it, so that a link to it works in both places. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

export default defineConfig({
  title: "Intermission",
  description: "Self-hosted rewarded ads for messenger bots",
  lang: "en",
  cleanUrls: true,
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  srcExclude: ["images/**"],
  markdown: { config: rewriteLinks, anchor: { slugify: anchorOf } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Try it", link: "/try-it" },
      { text: "Publish", link: "/first-bot" },
      { text: "Operate", link: "/deploy" },
      { text: "Advertise", link: "/advertise" },
    ],
    sidebar: [
      { text: "Try it", items: [{ text: "The demo", link: "/try-it" }] },
      {
        text: "Publish",
        items: [
          { text: "A bot in five minutes", link: "/first-bot" },
          { text: "The two APIs", link: "/integrate" },
          { text: "TypeScript", link: "/typescript" },
          { text: "Python", link: "/python" },
          { text: "Go", link: "/go" },
          { text: "In your framework", link: "/examples" },
          { text: "Webhooks", link: "/webhooks" },
          { text: "Errors and limits", link: "/errors" },
          { text: "Ads in your own mini-app", link: "/in-app" },
          { text: "Coming from BotAds", link: "/coming-from-botads" },
          { text: "Coming from AdsGram", link: "/coming-from-adsgram" },
          { text: "Coming from Monetag", link: "/coming-from-monetag" },
          { text: "Coming from RichAds", link: "/coming-from-richads" },
          { text: "Coming from SubGram", link: "/coming-from-subgram" },
          { text: "Coming from AdMob", link: "/coming-from-admob" },
          { text: "The wire contract", link: "/contract" },
        ],
      },
      {
        text: "Operate",
        items: [
          { text: "Run it for a real bot", link: "/deploy" },
          { text: "Operate", link: "/operate" },
          { text: "Runbooks", link: "/runbooks" },
          { text: "The console", link: "/console" },
          { text: "Settings", link: "/settings" },
          { text: "Promises", link: "/promises" },
          { text: "Serving ads", link: "/serving" },
        ],
      },
      {
        text: "Commands",
        items: [
          { text: "ads", link: "/reference/ads" },
          { text: "api", link: "/reference/api" },
          { text: "./pnpm publisher", link: "/reference/publisher" },
          { text: "npm start", link: "/reference/npm-start" },
        ],
      },
      {
        text: "Advertise",
        items: [
          { text: "Campaigns and creatives", link: "/advertise" },
          { text: "Money", link: "/money" },
          { text: "Check what you are billed", link: "/proof" },
        ],
      },
      {
        text: "Inside",
        items: [
          { text: "Performance", link: "/performance" },
          { text: "Scale", link: "/scale" },
          { text: "Decisions", link: "/decisions/" },
        ],
      },
    ],
  },
});

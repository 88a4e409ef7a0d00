/**
 * Checks the pages of the site as its build does, without the build: each page is rendered and is a template that Vue compiles,
 * and each link names a page of the site and, which the build does not see, a heading of it. Colours of code are left out, since
 * they take most of the time of the build.
 *   node docs/.vitepress/check-pages.ts [folder of pages]
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { createMarkdownRenderer } from "vitepress";
import { compileTemplate } from "vue/compiler-sfc";
import config from "./config.ts";

const docs = process.argv[2] ?? join(import.meta.dirname, "..");
const included = /<!--\s*@include:\s*(\S+?)\s*-->/g;

interface Page {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
}

const faults: string[] = [];
const render = await createMarkdownRenderer(docs, { ...config.markdown, highlight: (code) => escapeHtml(code) });

function escapeHtml(text: string): string {
  return `<pre v-pre><code>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code></pre>`;
}

function readPage(path: string): Page {
  const text = readFileSync(join(docs, path), "utf8").replace(included, (_, file: string) =>
    readFileSync(join(docs, posix.dirname(path), file), "utf8"),
  );
  const html = render.render(text, { path: join(docs, path), relativePath: path, cleanUrls: true });
  const { errors } = compileTemplate({ source: `<div>${html}</div>`, filename: path, id: path });
  for (const error of errors) faults.push(`docs/${path}: ${typeof error === "string" ? error : error.message}`);
  return {
    ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id)),
    links: [...html.matchAll(/<a\s[^>]*?href="([^"]+)"/g)].map(([, href = ""]) => decodeURI(href)),
  };
}

function faultOfLink(path: string, link: string): string | undefined {
  const [target = "", heading] = link.split("#");
  const base = target.startsWith("/") ? "." : posix.dirname(path);
  const name = target === "" ? path : posix.normalize(posix.join(base, target.replace(/^\/(?=.)/, "")));
  const file = name.endsWith(".md") ? name : /(?:^|\/)[.]?$/.test(name) ? posix.join(name, "index.md") : `${name}.md`;
  const page = pages.get(file);
  if (page === undefined)
    return existsSync(join(docs, "public", name)) ? undefined : `${link}, and docs/${file} is no page`;
  if (heading && !page.ids.has(heading)) return `${link}, and docs/${file} has no heading #${heading}`;
  return undefined;
}

const files = globSync("**/*.md", { cwd: docs, exclude: ["node_modules/**", "images/**", "dist/**"] });
const pages = new Map(files.map((path) => [path, readPage(path)]));
const inSite = (link: string) => !/^[a-z][a-z+.-]*:|^\/\//i.test(link);
for (const [path, { links }] of pages)
  for (const link of links.filter(inSite)) {
    const fault = faultOfLink(path, link);
    if (fault !== undefined) faults.push(`docs/${path} links to ${fault}`);
  }
const ofMenus = JSON.stringify(config.themeConfig).matchAll(/"link":"([^"]+)"/g);
for (const [, link = ""] of ofMenus) {
  const fault = faultOfLink("index.md", link);
  if (fault !== undefined) faults.push(`docs/.vitepress/config.ts links to ${fault}`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/**
 * Names that the public lists of blockers match wherever they occur, as patterns: EasyList's `easylist_general_block.txt`
 * (`/ad-banner.`, `-ads.js?`, `.com/ads/`, `_sponsor_`) and `easylist_general_hide.txt` (`##.ad-badge`, `###adbox`,
 * `###sponsoredlinks`), https://github.com/easylist/easylist, which AdGuard's and uBlock's lists include. Lists of hosts, and
 * rules such as `||ads.*^`, block what begins with `ad.` or `ads.`.
 */
const words =
  "ads?|adv|adverts?|advertis\\w*|adbox|adbar|adslot|adunit|adsense|banners?|sponsor\\w*|popunder|popup|promo|track(er|ing)?|pixel|beacon";
const blockedName = new RegExp(`^(${words})([-_]|$)|[-_](${words})([-_]|$)`, "i");
const blockedPath = new RegExp(`(^|[/._-])(${words})([/._-]|$)`, "i");
const blockedHost = /https?:\/\/(ads?|adserver|banners?|track(er|ing)?|pixel)\d*\./i;

/** An API's path stays as it is; no list has it, and it is called only when a viewer reports an ad. */
const keptPaths = ["/player/v1/sessions/{id}/ad-reports"];

const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root }).filter(
    (path) => !/node_modules|\.test\.|\/gallery\/|\/preview\/|docs\/reference\//.test(path),
  );
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** Pages that viewers see: the mini-app, and the pages of direct links. */
const pages = filesOf(
  "apps/miniapp/index.html",
  "apps/miniapp/src/**/*.{ts,tsx,css}",
  "apps/ad-service/src/{clicks,miniapp-page}/**/*.ts",
);

function* matchesOf(pattern: RegExp, text: string): Generator<string> {
  for (const [, found = ""] of text.matchAll(pattern)) yield found;
}

describe("public block lists match nothing that a viewer's browser loads or shows", () => {
  test("no class and no id", () => {
    const names = new Set<string>();
    for (const path of pages) {
      const text = textOf(path);
      const lists = [...matchesOf(/\b(?:className|class|id)=\{?["'`]([^"'`]+)["'`]/g, text)];
      for (const list of lists) for (const name of list.split(/[\s${}?:"]+/)) names.add(name);
      if (path.endsWith(".css")) for (const name of matchesOf(/[.#]([a-z][\w-]*)/gi, text)) names.add(name);
    }
    expect(names.size).toBeGreaterThan(80);
    expect([...names].filter((name) => blockedName.test(name))).toEqual([]);
  });

  test("no file that is loaded when it is needed, and no path that the mini-app calls", () => {
    const paths = new Set<string>();
    for (const path of pages) {
      const text = textOf(path);
      for (const file of matchesOf(/\bimport\(\s*"([^"]+)"/g, text)) paths.add(file.split("/").at(-1) ?? file);
    }
    const documented = textOf("packages/ad-core/src/player-api.ts");
    for (const path of matchesOf(/`(?:POST|GET) (\/player\/v1\/[^`?]*)/g, documented)) paths.add(path);
    paths.add("/media/0f.mp4").add("/app/7000000001").add("/4YQm3XkT7vRbN2hWpz").add("/assets/index.js");
    expect(paths.size).toBeGreaterThan(12);
    const blocked = [...paths].filter((path) => blockedPath.test(path) && !keptPaths.includes(path));
    expect(blocked).toEqual([]);
  });

  test("no host that the documentation or the sample files advise", () => {
    const advice = filesOf("*.md", "docs/**/*.md", "deploy/**/*", "clients/**/*.md", "packages/*/README.md").filter(
      (path) => /\.\w+$|Caddyfile$/.test(path) && !/\.(jpg|webp|png)$/.test(path),
    );
    expect(advice.length).toBeGreaterThan(30);
    expect(advice.filter((path) => blockedHost.test(textOf(path)))).toEqual([]);
    const served = advice.flatMap((path) => [...matchesOf(/(?:server_name|host:) ([\w.-]+)/g, textOf(path))]);
    expect(served.filter((host) => /^ads?\./.test(host))).toEqual([]);
  });

  test.each(["ad-badge", "ad_box", "top-banner", "sponsored-link", "ads"])("the pattern finds %s", (name) => {
    expect(blockedName.test(name)).toBe(true);
  });
});

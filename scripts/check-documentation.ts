/**
 * Fails if a Markdown file names a path of this repository that does not exist, or shows another text than the file that it
 * names, a decision is not listed, `docs/settings.md` or the schema of Kubernetes' values is not what the settings say, or the
 * documentation has too many words. `--write` copies the shown files into the pages and writes those two.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { valuesSchemaFile } from "./kubernetes-values.ts";
import { root } from "./processes.ts";
import { settingsPage } from "./settings-page.ts";
import { showFiles } from "./shown-files.ts";

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const topFolders = new Set(tracked.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
const faults: string[] = [];
/** As `wc -w` counts them. */
const MAX_WORDS = 40_000;
const MAX_README_WORDS = 1200;
/** Each page of new ground may have so many words, beside those of all others. */
const MAX_WORDS_OF_NEW_GROUND = 1000;
const newGround =
  /^docs\/(in-app|cards|watch-to-join|tasks|task-bots|demand|marking|proof|releases|scale|coming-from-\w+)\.md$/;

/** Files that are made of the settings in config.ts. */
const generated = { "docs/settings.md": settingsPage(), "deploy/kubernetes/values.schema.json": valuesSchemaFile() };
for (const [file, text] of Object.entries(generated)) {
  if (process.argv.includes("--write")) writeFileSync(join(root, file), text);
  else if (!existsSync(join(root, file)) || readFileSync(join(root, file), "utf8") !== text)
    faults.push(`${file} differs from the settings in config.ts; npm run fix writes it`);
}

for (const file of tracked.filter((name) => name.endsWith(".md"))) {
  const written = readFileSync(join(root, file), "utf8");
  let shown = showFiles(file, written);
  if (process.argv.includes("--write") && shown.text !== written) {
    writeFileSync(join(root, file), shown.text);
    shown = showFiles(file, shown.text);
  }
  const { text } = shown;
  faults.push(...shown.faults);
  for (const [, path = ""] of text.matchAll(/`([\w.@-]+(?:\/[\w.@*{}-]+)+\/?)`/g)) {
    if (!topFolders.has(path.split("/")[0]) || /[*{}]/.test(path)) continue;
    if (!existsSync(join(root, path))) faults.push(`${file} names ${path}, which does not exist`);
  }
  for (const [, link = "", anchor] of text.matchAll(/\]\(([^)\s#]*)(?:#([^)]*))?\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const path = link === "" ? file : join(dirname(file), link);
    if (!existsSync(join(root, path))) faults.push(`${file} links to ${link}, which does not exist`);
    else if (anchor !== undefined && path.endsWith(".md") && !anchorsOf(path).includes(anchor))
      faults.push(`${file} links to ${link}#${anchor}, and that page has no such heading`);
  }
}
const decisions = readFileSync(join(root, "docs/decisions/index.md"), "utf8");
for (const file of tracked.filter((name) => /^docs\/decisions\/(?!index).*[.]md$/.test(name))) {
  const name = file.slice("docs/decisions/".length);
  if (!decisions.includes(`](./${name})`)) faults.push(`docs/decisions/index.md does not list ${name}`);
}

const wordsOf = (file: string) => readFileSync(join(root, file), "utf8").match(/\S+/g)?.length ?? 0;
const pages = tracked.filter((name) => name.endsWith(".md"));
for (const page of pages.filter((name) => newGround.test(name) && wordsOf(name) > MAX_WORDS_OF_NEW_GROUND))
  faults.push(`${page} has more than ${MAX_WORDS_OF_NEW_GROUND} words`);
const words = pages.filter((name) => !newGround.test(name)).reduce((sum, name) => sum + wordsOf(name), 0);
if (words > MAX_WORDS)
  faults.push(
    `the pages, without those of new ground, have ${words} words of ${MAX_WORDS}: say each thing once, and refer to it elsewhere`,
  );
if (wordsOf("README.md") > MAX_README_WORDS) faults.push(`README.md has more than ${MAX_README_WORDS} words`);

/** The anchors that GitHub gives a page's headings. */
function anchorsOf(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8").replaceAll(/^ *```.*?^ *```$/gms, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

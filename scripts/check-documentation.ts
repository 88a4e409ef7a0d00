/**
 * Fails if a Markdown file names a path of this repository that does not exist, or shows another text than the file that it
 * names, or a decision is not listed. `--write` copies the shown files into the pages.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./processes.ts";
import { showFiles } from "./shown-files.ts";

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const topFolders = new Set(tracked.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
const faults: string[] = [];

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
  for (const [, link = ""] of text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    if (!existsSync(join(root, dirname(file), link))) faults.push(`${file} links to ${link}, which does not exist`);
  }
}
const decisions = readFileSync(join(root, "docs/decisions/index.md"), "utf8");
for (const file of tracked.filter((name) => /^docs\/decisions\/\d.*[.]md$/.test(name))) {
  const name = file.slice("docs/decisions/".length);
  if (!decisions.includes(`](./${name})`)) faults.push(`docs/decisions/index.md does not list ${name}`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

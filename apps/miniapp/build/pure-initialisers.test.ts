import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Rollup } from "vite";
import { expect, onTestFinished, test } from "vitest";
import { pureInitialisers } from "./pure-initialisers.ts";

/** A program that uses one of a package's parsers. */
async function bundleWith(plugins: ReturnType<typeof pureInitialisers>[], source: string): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "pure-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "node_modules/parsers");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "main": "index.js" }');
  writeFileSync(join(folder, "index.js"), source);
  writeFileSync(join(root, "main.js"), 'import { used } from "parsers"; document.title = used("text");');
  const options = { rolldownOptions: { input: join(root, "main.js") }, write: false };
  const built = await build({ root, logLevel: "silent", configFile: false, build: options, plugins });
  return (built as Rollup.RollupOutput).output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
}

const parsers = `const parserOf = (...options) => () => (text) => [document.body, options, text];
export const used = parserOf("is used")();
export const unused = parserOf(parserOf("is not used")(), { of: [parserOf("nor is this")] })();`;

test("unused parsers of the package are left out, and used ones stay", async () => {
  const plain = await bundleWith([], parsers);
  for (const text of ["is used", "is not used", "nor is this"]) expect(plain).toContain(text);
  const marked = await bundleWith([pureInitialisers("parsers")], parsers);
  expect(marked).toContain("is used");
  for (const text of ["is not used", "nor is this"]) expect(marked).not.toContain(text);
});

test("a package without such calls fails the build, so that nobody keeps the plugin for nothing", async () => {
  await expect(bundleWith([pureInitialisers("parsers")], "export const used = String;")).rejects.toThrow(
    "remove pureInitialisers",
  );
});

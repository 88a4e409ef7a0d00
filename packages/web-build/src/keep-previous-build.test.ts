import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { expect, onTestFinished, test } from "vitest";
import { keepPreviousBuild } from "./keep-previous-build.ts";

test("a build keeps the files of the build before it, and removes those of earlier ones", async () => {
  const root = mkdtempSync(join(tmpdir(), "builds-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "index.html"), '<script type="module" src="/main.js"></script>');
  const scripts = () => readdirSync(join(root, "dist/assets")).filter((name) => name.endsWith(".js"));
  const buildOf = async (version: number) => {
    writeFileSync(join(root, "main.js"), `document.title = "version ${version}";`);
    await build({ root, logLevel: "silent", configFile: false, plugins: [keepPreviousBuild()] });
    return scripts();
  };
  const first = await buildOf(1);
  expect(first).toHaveLength(1);
  const second = await buildOf(2);
  expect(second).toHaveLength(2);
  expect(second).toEqual(expect.arrayContaining(first));
  const third = await buildOf(3);
  expect(third).toHaveLength(2);
  expect(third).not.toEqual(expect.arrayContaining(first));
});

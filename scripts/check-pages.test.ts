import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./processes.ts";

/** Named as pages of the site are: links to files that it does not have become text. */
const pages = {
  "index.md":
    "# Start\n\n[a](./integrate.md), [b](integrate.md#the-publishers-own_words), [c](https://ads.example/#x)\n",
  "integrate.md": "# Other\n\n## The publisher's `own_words`\n\n[back](/), [up](#other)\n",
  "console.md": "[a](/nowhere)\n",
  "errors.md": "[a](./integrate.md#nothing)\n",
  "money.md": "# Here\n\n[a](#there)\n",
  "operate.md": "The address is {{ code.\n",
  "serving.md": "The address is <code>.\n",
};

test("dead links, links to missing headings and pages that Vue cannot compile are named", () => {
  const folder = mkdtempSync(join(tmpdir(), "pages-"));
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text);
  const program = join(root, "docs/.vitepress/check-pages.ts");
  const { status, stderr } = spawnSync(process.execPath, [program, folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(status).toBe(1);
  const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("docs/.vitepress/config.ts"));
  expect([...new Set(lines)].sort()).toEqual([
    "docs/console.md links to /nowhere, and docs/nowhere.md is no page",
    "docs/errors.md links to ./integrate#nothing, and docs/integrate.md has no heading #nothing",
    "docs/money.md links to #there, and docs/money.md has no heading #there",
    expect.stringMatching(/^docs\/operate[.]md: .*missing end tag/),
    expect.stringMatching(/^docs\/operate[.]md: Interpolation end sign/),
    expect.stringMatching(/^docs\/serving[.]md: .*missing end tag/),
  ]);
});

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./processes.ts";
import { showFiles } from "./shown-files.ts";
import { pages, readPage } from "./snippets.ts";

const files: Readonly<Record<string, string>> = {
  "examples/bot.ts": "const one = 1;\n\nstart();\n",
  "docs/verify.py": 'check()\n\n\n# --- command line\nprint("x")\n',
  "kit/README.md": "# Kit\n\n```ts file=codes.ts\ncodes();\n```\n\n```ts file=bot.ts\nbot();\n```\n",
};
const show = (text: string) => showFiles("page.md", text, (path) => files[path]);

test.each([
  ["examples/bot.ts", "const one = 1;\n\nstart();\n"],
  ["kit/README.md#bot.ts", "bot();\n"],
  ["docs/verify.py", "check()\n"],
])("a page that shows %s has its text, and nothing else is accepted", (from, expected) => {
  const page = (code: string) => `Save this:\n\n\`\`\`ts from=${from}\n${code}\`\`\`\n\nThen run it.\n`;
  expect(show(page(expected))).toEqual({ text: page(expected), faults: [] });
  for (const other of ["", "old();\n", `${expected}more();\n`, expected.replace("(", " (")])
    expect(show(page(other))).toEqual({
      text: page(expected),
      faults: [`page.md:3 differs from ${from}; npm run fix copies the file into the page`],
    });
});

test("a block in a list keeps its indentation, and blank lines stay empty", () => {
  const { text } = show("1. Save:\n\n   ```ts from=examples/bot.ts\n   ```\n");
  expect(text).toBe("1. Save:\n\n   ```ts from=examples/bot.ts\n   const one = 1;\n\n   start();\n   ```\n");
});

test.each(["examples/gone.ts", "kit/README.md#gone.ts"])("%s, which is not there, is named with its line", (from) => {
  const page = `# A\n\`\`\`ts from=${from}\nkept();\n\`\`\`\n`;
  expect(show(page)).toEqual({ text: page, faults: [`page.md:2 shows ${from}, which does not exist`] });
});

test("a comment that includes a file is refused, since GitHub shows nothing there", () => {
  const { faults } = show("Save this as `bot.ts`:\n\n<!--@include: ../kit/README.md#bot-->\n");
  expect(faults).toEqual([expect.stringMatching(/^page\.md:3 includes a file by a comment/)]);
});

test("every page of this repository shows its files as they are, and each documented receiver is on one or linked from it", () => {
  expect(pages().flatMap((page) => showFiles(page, readPage(page)).faults)).toEqual([]);
  const onPages = `${readPage("docs/webhooks.md")}${readPage("docs/coming-from-admob.md")}`;
  const shown = [...onPages.matchAll(/^```\w+ from=(\S+)$|\]\(([^)#:]+)\)/gm)].map(
    ([, from, link = ""]) => from ?? join("docs", link),
  );
  const receivers = readdirSync(join(root, "docs/webhooks")).filter((file) => !file.startsWith("command_line."));
  expect(receivers.length).toBeGreaterThan(5);
  const expected = [
    ...receivers.map((file) => `docs/webhooks/${file}`),
    "clients/go/verify.go",
    "examples/php/verify.php",
  ];
  expect(shown).toEqual(expect.arrayContaining(expected));
});

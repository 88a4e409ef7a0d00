/**
 * Writes the documentation site's pages that show what stands elsewhere: the help of commands, in `docs/reference/`, and READMEs.
 * The pages are not committed, since GitHub shows an included file as nothing: the site's build and its development server
 * write them first.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { help as publisherHelp } from "../packages/publisher/src/cli/run-cli.ts";
import { commandPrograms, type Program } from "./command-programs.ts";
import { root } from "./processes.ts";
import { startHelp } from "./start-options.ts";

const titles = {
  ads: "Commands of the ad service",
  api: "Commands of the companion API",
};

/** What `--help` prints, on lines of 100 characters. */
function helpOf(command: Program): string {
  let text = "";
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 100 });
  command.outputHelp();
  return `\`\`\`text\n${text.trim()}\n\`\`\`\n`;
}

function pageOf(name: keyof typeof titles, program: Program): string {
  const parts = [`# ${titles[name]}\n`, `\`./pnpm ${name} --help\` in a clone of the repository:\n`, helpOf(program)];
  for (const command of program.commands) {
    parts.push(`## ${command.name()}\n`);
    if (command.commands.length === 0) parts.push(helpOf(command));
    else parts.push(`${sentence(command.description())}\n`);
    for (const verb of command.commands) parts.push(`### ${command.name()} ${verb.name()}\n`, helpOf(verb));
  }
  return parts.join("\n");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

const folder = join(root, "docs/reference");
mkdirSync(folder, { recursive: true });
const { ads, api } = commandPrograms();
writeFileSync(join(folder, "ads.md"), pageOf("ads", ads));
writeFileSync(join(folder, "api.md"), pageOf("api", api));
writeFileSync(
  join(folder, "publisher.md"),
  `# ./pnpm publisher\n\nIn a clone of the repository. Where the package is installed, its program is intermission-publisher.\n\n\`\`\`text\n${publisherHelp.trim()}\n\`\`\`\n`,
);
writeFileSync(join(folder, "npm-start.md"), `# npm start\n\n\`\`\`text\n${startHelp}\n\`\`\`\n`);

const included: Readonly<Record<string, string>> = {
  examples: "<!--@include: ../examples/README.md-->\n",
  typescript: "<!--@include: ../packages/publisher/README.md-->\n",
  python: "<!--@include: ../clients/python/README.md-->\n",
  go: "<!--@include: ../clients/go/README.md-->\n",
};
for (const [page, text] of Object.entries(included)) writeFileSync(join(root, "docs", `${page}.md`), text);

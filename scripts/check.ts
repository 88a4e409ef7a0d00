/** `pnpm check`: all checks that do not run the project, in parallel. Needs no database and no browser. */
import { checkStructure } from "./check-structure.ts";
import { runCommand } from "./processes.ts";
import { checkTypes } from "./run-turbo.ts";
import { explain, step } from "./say.ts";

const checks: [title: string, run: () => Promise<unknown>][] = [
  [
    "format and lint",
    () =>
      runCommand("biome", ["ci", "--error-on-warnings", "--colors=off", "."], {
        nextStep: "pnpm fix corrects most of it.",
      }),
  ],
  ["types of apps and packages", checkTypes],
  ...[".", "examples"].map((folder): [string, () => Promise<unknown>] => [
    `types of ${folder === "." ? "scripts, clients, e2e and bench" : folder}`,
    () =>
      // The projects are checked side by side. With more than one checker each, the checkers repeat the work of one another.
      runCommand("tsc", ["--noEmit", "--checkers", "1", "-p", folder], {
        nextStep: "Each line above names a file and a position in it.",
      }),
  ]),
  [
    "import rules",
    () =>
      runCommand(process.execPath, ["scripts/check-imports.ts"], {
        nextStep: "The rule's comment in .dependency-cruiser.cjs describes what to do instead.",
      }),
  ],
  ["unused code", () => runCommand("knip", [], { nextStep: "Remove unused code, or stop exporting it." })],
  ["workspace", () => runCommand("sherif", ["--fail-on-warnings"], { nextStep: "sherif --fix corrects most of it." })],
  [
    "names",
    () =>
      runCommand(process.execPath, ["scripts/check-names.ts"], {
        nextStep: "docs/decisions/code.md describes which names are refused, and why.",
      }),
  ],
  ["sizes of functions and statements, state of modules, spread literals", async () => checkStructure()],
  ["paths named in documentation", () => runCommand(process.execPath, ["scripts/check-documentation.ts"])],
  [
    "documentation site",
    async () => {
      await runCommand(process.execPath, ["scripts/write-site-pages.ts"]);
      await runCommand(process.execPath, ["docs/node_modules/vitepress/bin/vitepress.js", "build", "docs"], {
        nextStep: "A dead link names its page; see the site with: pnpm --filter @intermission/docs dev",
      });
    },
  ],
];

const outcomes = await Promise.allSettled(checks.map(([title, run]) => step(title, run)));
const failed = outcomes.filter((outcome) => outcome.status === "rejected");
for (const outcome of failed.slice(0, -1))
  console.error(`\n${outcome.reason instanceof Error ? outcome.reason.message : outcome.reason}`);
const last = failed.at(-1);
if (last) explain(last.reason);

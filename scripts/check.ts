/** `pnpm check`: all checks that do not run the project, in parallel. Needs no database and no browser. */
import { checkStructure } from "./check-structure.ts";
import { runCommand } from "./processes.ts";
import { explain, Problem, step } from "./say.ts";

/** What a check found in a file is kept until the file changes: a check after a small change takes a quarter of the time. */
const caches = "node_modules/.cache";
const infoOf = (title: string) => `${caches}/tsc/${title.replaceAll(" ", "-")}.tsbuildinfo`;

/**
 * One program for all servers and packages, which import one another's sources: with a program for each, the compiler read
 * and judged most of them a dozen times.
 */
const programs: readonly [title: string, configuration: string][] = [
  ["servers and packages", "tsconfig.servers.json"],
  ["the console", "apps/console"],
  ["the mini-app", "apps/miniapp"],
  ["scripts, clients, e2e and bench", "."],
  ["examples", "examples"],
  ["pages with the in-app script", "e2e/in-app-pages"],
];

const checks: [title: string, run: () => Promise<unknown>][] = [
  [
    "format and lint",
    () =>
      runCommand("biome", ["ci", "--error-on-warnings", "--colors=off", "."], {
        nextStep: "pnpm fix corrects most of it.",
      }),
  ],
  ...programs.map(([title, configuration]): [string, () => Promise<unknown>] => [
    `types of ${title}`,
    () =>
      // They are checked side by side. With more than one checker each, the checkers repeat the work of one another.
      runCommand(
        "tsc",
        ["--noEmit", "--checkers", "1", "-p", configuration, "--incremental", "--tsBuildInfoFile", infoOf(title)],
        { nextStep: "Each line above names a file and a position in it." },
      ),
  ]),
  [
    "import rules",
    () =>
      runCommand(process.execPath, ["scripts/check-imports.ts"], {
        nextStep: "The rule's comment in .dependency-cruiser.cjs describes what to do instead.",
      }),
  ],
  [
    "unused code",
    () =>
      runCommand("knip", ["--cache", "--cache-location", `${caches}/knip`], {
        nextStep: "Remove unused code, or stop exporting it.",
      }),
  ],
  [
    "workspace",
    () =>
      // The root's dependencies are those of a start: `installPackages` in set-up.mjs.
      runCommand("sherif", ["--fail-on-warnings", "-r", "root-package-dependencies"], {
        nextStep: "sherif --fix corrects most of it.",
      }),
  ],
  [
    "names",
    () =>
      runCommand(process.execPath, ["scripts/check-names.ts"], {
        nextStep: "docs/decisions/code.md describes which names are refused, and why.",
      }),
  ],
  [
    "sizes of functions and statements, state of modules, spread literals, texts of screens",
    async () => checkStructure(),
  ],
  [
    "catalogs of words",
    () =>
      runCommand(process.execPath, ["scripts/check-words.ts"], {
        nextStep: "Each line above names a catalog and a message; npm run fix writes values.ts.",
      }),
  ],
  [
    "clients of the released APIs",
    () =>
      runCommand(process.execPath, ["scripts/check-apis.ts"], {
        nextStep:
          "Keep what clients of the last release use; or announce it in CHANGELOG.md: `- **Breaking:** ` and the operation in backquotes, as it stands above.",
      }),
  ],
  [
    "statements as they are sent",
    () =>
      runCommand(process.execPath, ["scripts/sent-statements.ts"], {
        nextStep: "The exceptions, with their reasons, are in scripts/sent-statements.ts.",
      }),
  ],
  ["paths named in documentation", () => runCommand(process.execPath, ["scripts/check-documentation.ts"])],
  [
    "pages of the documentation site",
    async () => {
      await runCommand(process.execPath, ["scripts/write-site-pages.ts"]);
      await runCommand(process.execPath, ["docs/.vitepress/check-pages.ts"], {
        nextStep: "Each line above names a page; see the site with: pnpm --filter @intermission/docs dev",
      });
    },
  ],
  [
    "migrations",
    // They refuse a number that two files have, before a test or a server reads them.
    async () => {
      try {
        await Promise.all([import("../apps/ad-service/src/migrations.ts"), import("../apps/api/src/migrations.ts")]);
      } catch (error) {
        throw new Problem(
          error instanceof Error ? error.message : String(error),
          "Rename the file that is not released.",
        );
      }
    },
  ],
];

const outcomes = await Promise.allSettled(checks.map(([title, run]) => step(title, run)));
const failed = outcomes.filter((outcome) => outcome.status === "rejected");
for (const outcome of failed.slice(0, -1))
  console.error(`\n${outcome.reason instanceof Error ? outcome.reason.message : outcome.reason}`);
const last = failed.at(-1);
if (last) explain(last.reason);

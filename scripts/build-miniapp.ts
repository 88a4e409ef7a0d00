import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";
import { runTurbo } from "./run-turbo.ts";
import { explain, Problem, step } from "./say.ts";

const pages = ["miniapp", "console"] as const;
type Page = (typeof pages)[number];

/** Builds the mini-app and the console with turbo, which skips the build if no source changed. Returns the output of the build. */
export function buildPages(which: readonly Page[] = pages): Promise<string> {
  const filters = which.map((page) => `--filter=@intermission/${page}`);
  return runTurbo("build", filters, {
    nextStep: "The output names the file; correct it, then run the same command again.",
  });
}

/**
 * Says to a server, which may start before the build and serves no older one meanwhile, that a page is being built: until the
 * returned function has built it, or this process ends. Where this user cannot write the page's folder, as in a container
 * with a read-only file system, the build that is there is used.
 */
export function announceBuild(page: Page, folder = join(root, "apps", page)): () => Promise<void> {
  if (!isWritable(folder)) {
    if (existsSync(join(folder, "dist/index.html"))) return async () => {};
    throw new Problem(
      `The mini-app or the console is not built, and ${folder} cannot be written.`,
      "Run: npm run build, as a user who can write there, for example when the image is made.",
    );
  }
  const mark = join(folder, "dist.building");
  writeFileSync(mark, String(process.pid));
  process.once("exit", () => rmSync(mark, { force: true }));
  return async () => {
    try {
      await buildPages([page]);
    } finally {
      rmSync(mark, { force: true });
    }
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

// The pages alone; `npm run build` builds the servers, too.
if (import.meta.main) await step("mini-app and console", () => buildPages()).catch(explain);

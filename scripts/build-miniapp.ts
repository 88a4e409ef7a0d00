import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";
import { runTurbo } from "./run-turbo.ts";
import { explain, Problem, step } from "./say.ts";

const pages = ["miniapp", "console"].map((app) => join(root, "apps", app));

/** Builds the mini-app and the console with turbo, which skips the build if no source changed. Returns the output of the build. */
export function buildPages(): Promise<string> {
  return runTurbo("build", ["--filter=@intermission/miniapp", "--filter=@intermission/console"], {
    nextStep: "The output names the file; correct it, then run the same command again.",
  });
}

/**
 * Builds the mini-app and the console; where this user cannot write them, as in a container with a read-only file system, the
 * builds that are there are used.
 */
export async function buildWhereWritable(folders: readonly string[] = pages): Promise<void> {
  if (folders.every(isWritable)) {
    await buildPages();
    return;
  }
  const unbuilt = folders.find((folder) => !existsSync(join(folder, "dist/index.html")));
  if (unbuilt !== undefined) {
    throw new Problem(
      `The mini-app or the console is not built, and ${unbuilt} cannot be written.`,
      "Run: npm run build, as a user who can write there, for example when the image is made.",
    );
  }
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
if (import.meta.main) await step("mini-app and console", buildPages).catch(explain);

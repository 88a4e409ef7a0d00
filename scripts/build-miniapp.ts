import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./processes.ts";
import { explain, Problem, step } from "./say.ts";

/** Builds the mini-app with turbo, which skips the build if no source changed. Returns the output of the build. */
export async function buildMiniapp(): Promise<string> {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return runCommand(
    "npx",
    ["--yes", "--prefer-offline", packageManager, "exec", "turbo", "run", "build", "--filter=@intermission/miniapp"],
    {
      env: { TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
      nextStep: "The output names the file; correct it, then run the same command again.",
    },
  );
}

/**
 * Builds the mini-app; where this user cannot write it, as in a container with a read-only file system, the build that is
 * there is used.
 */
export async function buildWhereWritable(folder = join(root, "apps/miniapp")): Promise<void> {
  if (isWritable(folder)) {
    await buildMiniapp();
  } else if (!existsSync(join(folder, "dist/index.html"))) {
    throw new Problem(
      `The mini-app is not built, and ${folder} cannot be written.`,
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

// The mini-app alone; `npm run build` builds the servers, too.
if (import.meta.main) await step("mini-app", buildMiniapp).catch(explain);

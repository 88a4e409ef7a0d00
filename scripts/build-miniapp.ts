import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./processes.ts";
import { explain, step } from "./say.ts";

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

// `pnpm build`, `npm run build`.
if (import.meta.main) await step("mini-app", buildMiniapp).catch(explain);

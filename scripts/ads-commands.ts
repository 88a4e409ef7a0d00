import { join } from "node:path";
import { startCommandHost } from "../packages/testing/src/host-commands.ts";
import { root } from "./processes.ts";
import { Problem } from "./say.ts";

/** The operator's commands, one after another in one process: a process for each takes 0.4 s of a processor to load. */
export function startAdsCommands() {
  const host = startCommandHost(join(root, "apps/ad-service/src/cli.ts"), process.env);
  return {
    stop: host.stop,
    async run(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
      const { code, out, err } = await host.run(words, env);
      if (code === 0) return out;
      throw new Problem(
        `ads ${words.join(" ")} failed with ${code}:\n${`${out}${err}`.trim()}`,
        "Fix that, then run it again.",
      );
    },
  };
}

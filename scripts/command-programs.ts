import { addAdsCommands, createAdsProgram } from "../apps/ad-service/src/command-program.ts";
import { addApiCommands, createApiProgram } from "../apps/api/src/command-program.ts";
import { shareSettings } from "../packages/server/src/command-line.ts";

/** Both command lines with all their commands, to be described or checked: none of the commands can reach a server. */
export function commandPrograms() {
  const context = {
    client: () => Promise.reject(new Error("these commands are only described")),
    print: () => {},
    copy: () => Promise.resolve(),
    isJson: () => false,
    config: () => {
      throw new Error("these commands are only described");
    },
  };
  const ads = shareSettings(createAdsProgram());
  addAdsCommands(ads, context);
  const api = shareSettings(createApiProgram());
  addApiCommands(api, context);
  return { ads, api };
}

/** A command line, or one of its commands. */
export type Program = ReturnType<typeof createAdsProgram>;

import { sampleRoutes } from "@intermission/operator-api/sample";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import type { HttpError } from "@intermission/server/http-server";
import { conflict } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { type Bots, forgetBot } from "../bots/bots.ts";
import { type AddSampleDeps, type AddSampleOutcome, addSample } from "./add-sample.ts";
import { type RemoveSampleDeps, removeSample } from "./remove-sample.ts";
import { readSample } from "./sample-row.ts";

interface SampleOperatorDeps extends AddSampleDeps, RemoveSampleDeps {
  bots: Bots;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  now: () => Date;
}

/** Sample traffic for whoever tries the console. */
export function sampleOperatorRoutes(scope: CheckedScope, deps: SampleOperatorDeps): void {
  const { database, bots, campaigns, now } = deps;
  serveOperatorRoutes(scope, sampleRoutes, {
    async showSample() {
      return { sample: await readSample(database) };
    },

    async addSample({ http }) {
      const added = await addSample(deps, { author: authorOf(http), now: now() });
      await campaigns.refresh();
      const sample = await readSample(database);
      if (added.outcome !== "added") throw refusalOf(added);
      if (sample === null) throw refusalOf({ outcome: "removing" });
      return { sample };
    },

    async removeSample({ http }) {
      const removed = await removeSample(deps, { author: authorOf(http), now: now() });
      switch (removed.outcome) {
        case "in-use":
          throw conflict("SAMPLE_IN_USE", removed.message, { name: removed.name });
        case "none":
          return { removed: false };
        case "removed":
          for (const botId of removed.botIds) forgetBot(bots, botId);
          await campaigns.refresh();
          return { removed: true };
        default:
          return removed satisfies never;
      }
    },
  });
}

function refusalOf(refused: Exclude<AddSampleOutcome, { outcome: "added" }>): HttpError {
  switch (refused.outcome) {
    case "no-video":
      return conflict(
        "NO_VIDEO",
        "the campaigns of the sample show a copy of a video, and there is no approved one: add one first: creatives add",
      );
    case "removing":
      return conflict("SAMPLE_REMOVING", "the sample is being removed; finish it first: sample remove");
    case "name-taken":
      return conflict("NAME_TAKEN", `${refused.name} is an advertiser already; rename it first: advertisers update`, {
        name: refused.name,
      });
    default:
      return refused satisfies never;
  }
}

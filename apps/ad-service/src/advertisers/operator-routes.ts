import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { boundedText } from "@intermission/server/parse-request";
import { conflict } from "@intermission/server/refuse";
import { z } from "zod";
import {
  advertiser as advertiserRow,
  issuePostbackKey,
  listAdvertisers,
  renameAdvertiser,
  unknownAdvertiser,
} from "./advertisers.ts";

export interface AdvertiserOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
}

const params = z.object({ advertiser: z.string().max(128) });
const list = {
  operationId: "listAdvertisers",
  description: "Lists the advertisers.",
  response: { 200: z.object({ advertisers: z.array(advertiserRow) }) },
};
const issueKey = {
  operationId: "issuePostbackKey",
  description: "Issues a new postback key, shown once; the previous one is no longer accepted.",
  params,
  response: { 201: z.object({ advertiser: z.string(), key: z.string().describe("Shown only here.") }) },
};
const rename = {
  operationId: "renameAdvertiser",
  description: "Renames an advertiser, in its campaigns too.",
  params,
  body: z.strictObject({ newName: boundedText(128) }).meta({ examples: [{ newName: "Shop Ltd" }] }),
  response: { 200: z.object({ name: z.string() }), ...refusals(409) },
};

/** Advertisers. One exists from its first campaign on; its name is case-insensitive. */
export function advertiserOperatorRoutes(scope: CheckedScope, { database, campaigns }: AdvertiserOperatorDeps): void {
  scope.get("/advertisers", { schema: list }, async () => ({ advertisers: await listAdvertisers(database) }));

  scope.post("/advertisers/:advertiser/key", { schema: issueKey }, async (request, reply) => {
    const { advertiser } = request.params;
    const issued = await issuePostbackKey(database, { advertiser });
    if (issued.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
    return reply.code(201).send({ advertiser: issued.advertiser, key: issued.key });
  });

  scope.post("/advertisers/:advertiser/rename", { schema: rename }, async (request) => {
    const { advertiser } = request.params;
    const { newName } = request.body;
    const renamed = await renameAdvertiser(database, { advertiser, name: newName });
    if (renamed.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
    if (renamed.outcome === "name-taken") {
      throw conflict("ADVERTISER_EXISTS", `there is already an advertiser ${renamed.name}; names are case-insensitive`);
    }
    await campaigns.refresh();
    return { name: renamed.name };
  });
}

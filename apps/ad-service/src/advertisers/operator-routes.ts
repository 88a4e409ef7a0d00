import type { Database } from "@intermission/postgres/open-database";
import { boundedText, parseRequest } from "@intermission/server/parse-request";
import { conflict, notFound } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { issuePostbackKey, listAdvertisers, renameAdvertiser } from "./advertisers.ts";

export interface AdvertiserOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
}

const params = z.object({ advertiser: z.string().max(128) });
const naming = z.strictObject({ newName: boundedText(128) });

/** Advertisers. One exists from its first campaign on; its name is case-insensitive. */
export function advertiserOperatorRoutes(
  scope: FastifyInstance,
  { database, campaigns }: AdvertiserOperatorDeps,
): void {
  scope.get("/advertisers", async () => ({ advertisers: await listAdvertisers(database) }));

  scope.post("/advertisers/:advertiser/key", async (request, reply) => {
    const { advertiser } = parseRequest(params, request.params);
    const issued = await issuePostbackKey(database, { advertiser });
    if (issued.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
    return reply.code(201).send({ advertiser: issued.advertiser, key: issued.key });
  });

  scope.post("/advertisers/:advertiser/rename", async (request) => {
    const { advertiser } = parseRequest(params, request.params);
    const { newName } = parseRequest(naming, request.body);
    const renamed = await renameAdvertiser(database, { advertiser, name: newName });
    if (renamed.outcome === "unknown-advertiser") throw unknownAdvertiser(advertiser);
    if (renamed.outcome === "name-taken") {
      throw conflict("ADVERTISER_EXISTS", `there is already an advertiser ${renamed.name}; names are case-insensitive`);
    }
    await campaigns.refresh();
    return { name: renamed.name };
  });
}

function unknownAdvertiser(name: string) {
  return notFound(`there is no advertiser ${name}; see all with: advertisers list`);
}

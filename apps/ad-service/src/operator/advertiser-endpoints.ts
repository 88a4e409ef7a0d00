import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { issuePostbackKey } from "../conversions/issue-postback-key.ts";
import { listAdvertisers } from "../conversions/list-advertisers.ts";
import { parseRequest } from "../parse-request.ts";
import { notFound } from "./refuse.ts";

const params = z.object({ advertiser: z.string().max(128) });

/** Who pays. An advertiser is known from its first campaign on. */
export function advertiserEndpoints(scope: FastifyInstance, { database }: { database: AdDatabase }): void {
  scope.get("/advertisers", async () => ({ advertisers: await listAdvertisers(database) }));

  scope.post("/advertisers/:advertiser/key", async (request, reply) => {
    const { advertiser } = parseRequest(params, request.params);
    const issued = await issuePostbackKey(database, { advertiser });
    if (issued.outcome === "unknown-advertiser") {
      throw notFound(`there is no advertiser ${advertiser}; see all with: advertisers list`);
    }
    return reply.code(201).send({ advertiser, key: issued.key });
  });
}

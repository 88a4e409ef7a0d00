import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { addCreative } from "../creatives/add-creative.ts";
import { addVastTag } from "../creatives/add-vast-tag.ts";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { findCreative, listCreatives } from "../creatives/rows.ts";
import { parseRequest } from "../parse-request.ts";
import { invalid, notFound } from "./refuse.ts";

export interface CreativeEndpointDeps {
  database: AdDatabase;
  media: MediaStorage;
  isPlainHttpAllowed: boolean;
  now: () => Date;
}

/** How the operator calls the file: it stands in the command that mends it. */
const query = z.object({ name: z.string().min(1).max(1024) });
const tag = z.strictObject({ url: z.string().trim() });
const params = z.object({ creativeId: z.string().max(64) });

/** `POST /creatives?name=`: the bytes of a video; `POST /creatives/tags`: a VAST tag. Added again, each is the same creative. */
export function creativeEndpoints(scope: FastifyInstance, deps: CreativeEndpointDeps): void {
  const { database, media, isPlainHttpAllowed, now } = deps;
  // A stream: a video never stands in memory. Its size is the verb's to limit.
  scope.addContentTypeParser("application/octet-stream", async (_request: unknown, payload: Readable) => payload);

  scope.post<{ Body: Readable }>("/creatives", async (request, reply) => {
    const { name } = parseRequest(query, request.query);
    const added = await addCreative({ database, media }, { bytes: request.body, name, now: now() });
    if (added.outcome === "refused") {
      throw invalid(added.mend === undefined ? added.message : `${added.message}; mend it with: ${added.mend}`);
    }
    const { creative, mended = null, renditionFault = null } = added;
    return reply.code(201).send({ ...creative, mended, renditionFault });
  });

  scope.post("/creatives/tags", async (request, reply) => {
    const { url } = parseRequest(tag, request.body);
    const added = await addVastTag(database, { url, isPlainHttpAllowed, now: now() });
    if (added.outcome === "refused") throw invalid(added.message);
    return reply.code(201).send(added.creative);
  });

  scope.get("/creatives", async () => ({ creatives: await listCreatives(database) }));

  scope.get("/creatives/:creativeId", async (request) => {
    const { creativeId } = parseRequest(params, request.params);
    const creative = await findCreative(database, creativeId);
    if (!creative) throw notFound(`there is no creative ${creativeId}; see all with: creatives list`);
    return creative;
  });
}

import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { addCreative } from "../creatives/add-creative.ts";
import { parseRequest } from "../parse-request.ts";
import { invalid } from "./refuse.ts";

export interface CreativeEndpointDeps {
  database: AdDatabase;
  mediaDir: string;
  now: () => Date;
}

/** How the operator calls the file: it stands in the command that mends it. */
const query = z.object({ name: z.string().min(1).max(1024) });

/** `POST /creatives?name=`: the bytes of a video. The same bytes are the same creative. */
export function creativeEndpoints(scope: FastifyInstance, { database, mediaDir, now }: CreativeEndpointDeps): void {
  // A stream: a video never stands in memory. Its size is the verb's to limit.
  scope.addContentTypeParser("application/octet-stream", async (_request: unknown, payload: Readable) => payload);

  scope.post<{ Body: Readable }>("/creatives", async (request, reply) => {
    const { name } = parseRequest(query, request.query);
    const added = await addCreative(database, { bytes: request.body, name, mediaDir, now: now() });
    if (added.outcome === "refused") {
      throw invalid(added.mend === undefined ? added.message : `${added.message}; mend it with: ${added.mend}`);
    }
    return reply.code(201).send(added.creative);
  });
}

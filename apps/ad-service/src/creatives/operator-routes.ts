import { Readable } from "node:stream";
import type { Database } from "@intermission/postgres/open-database";
import { parseRequest } from "@intermission/server/parse-request";
import { invalid, notFound } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { type AddCreativeOutcome, addCreative, addCreativeByAddress, type DownloadVideo } from "./add-creative.ts";
import { removeCaptions, setCaptions, setPoster } from "./captions-and-posters.ts";
import { addVastTag, findCreative, listCreatives, unknownCreative } from "./creatives.ts";
import type { MediaStorage } from "./media-storage.ts";

export interface CreativeOperatorDeps {
  database: Database;
  media: MediaStorage;
  downloadVideo: DownloadVideo;
  isPlainHttpAllowed: boolean;
  now: () => Date;
}

/** 100 MiB at 1 Mbit/s. */
const LONGEST_UPLOAD_MS = 15 * 60_000;
/** A video is fetched, converted and given renditions before the answer; each step has its own limit. */
const LONGEST_WORK_MS = 15 * 60_000;

/** The file's name for the operator: it appears in the command that converts it. */
const query = z.object({ name: z.string().min(1).max(1024) });
const tag = z.strictObject({ url: z.string().trim() });
const address = z.strictObject({ url: z.string().trim().max(4096) });
const params = z.object({ creativeId: z.string().max(64) });
const captionsParams = params.extend({ language: z.string().max(64) });

/**
 * `POST /creatives?name=`: the bytes of a video; `POST /creatives/addresses`: an address to fetch one from; `POST
 * /creatives/tags`: a VAST tag. Adding the same one again returns the same creative. `PUT
 * /creatives/{id}/captions/{language}`: the bytes of a WebVTT file; `PUT /creatives/{id}/poster`: those of a picture.
 */
export function creativeOperatorRoutes(scope: FastifyInstance, deps: CreativeOperatorDeps): void {
  const { database, media, downloadVideo, isPlainHttpAllowed, now } = deps;
  // A stream, so that a video is never held in memory as a whole. The verb that reads it limits its size.
  scope.addContentTypeParser("application/octet-stream", async (_request: unknown, payload: Readable) => payload);

  scope.post(
    "/creatives",
    { config: { bodyTimeoutMs: LONGEST_UPLOAD_MS, answerTimeoutMs: LONGEST_WORK_MS } },
    async (request, reply) => {
      const { name } = parseRequest(query, request.query);
      const added = await addCreative({ database, media }, { bytes: bytesOf(request), name, now: now() });
      return reply.code(201).send(addedAnswer(added));
    },
  );

  scope.post("/creatives/addresses", { config: { answerTimeoutMs: LONGEST_WORK_MS } }, async (request, reply) => {
    const { url } = parseRequest(address, request.body);
    const added = await addCreativeByAddress({ database, media, downloadVideo }, { url, now: now() });
    return reply.code(201).send(addedAnswer(added));
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
    if (!creative) throw unknownCreative(creativeId);
    return creative;
  });

  scope.put("/creatives/:creativeId/poster", async (request) => {
    const { creativeId } = parseRequest(params, request.params);
    const set = await setPoster({ database, media }, { creativeId, bytes: bytesOf(request) });
    if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
    if (set.outcome === "refused") throw invalid(set.message);
    return set.creative;
  });

  scope.put("/creatives/:creativeId/captions/:language", async (request) => {
    const { creativeId, language } = parseRequest(captionsParams, request.params);
    const set = await setCaptions({ database, media }, { creativeId, language, bytes: bytesOf(request) });
    if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
    if (set.outcome === "refused") throw invalid(set.message);
    return set.creative;
  });

  scope.delete("/creatives/:creativeId/captions/:language", async (request) => {
    const { creativeId, language } = parseRequest(captionsParams, request.params);
    const removed = await removeCaptions(database, { creativeId, language });
    if (removed.outcome === "unknown-creative") throw unknownCreative(creativeId);
    if (removed.outcome === "no-such-captions") throw notFound(`it has no captions in ${language}`);
    return removed.creative;
  });
}

function addedAnswer(added: AddCreativeOutcome) {
  if (added.outcome === "refused") {
    throw invalid(
      added.conversion === undefined ? added.message : `${added.message}; convert it with: ${added.conversion}`,
    );
  }
  const { creative, converted = null, renditionFault = null } = added;
  return { ...creative, converted, renditionFault };
}

function bytesOf({ body }: FastifyRequest): Readable {
  if (body instanceof Readable) return body;
  throw invalid("the file is missing: send its bytes as application/octet-stream");
}

import { Readable } from "node:stream";
import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { bodyBytes } from "@intermission/server/finish-bodies";
import { boundedText, confirmation, listLimit } from "@intermission/server/parse-request";
import { invalid, invalidField, notFound, requireConfirmation } from "@intermission/server/refuse";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { adReportsPage, listAdReports } from "./ad-reports.ts";
import { type AddCreativeOutcome, addCreative, addCreativeByAddress, type DownloadVideo } from "./add-creative.ts";
import { removeCaptions, setCaptions, setPoster } from "./captions-and-posters.ts";
import {
  addVastTag,
  creative,
  findCreative,
  listCreatives,
  nameCreative,
  requireCreative,
  setLegalLine,
  unknownCreative,
  vastTagFault,
} from "./creatives.ts";
import type { MediaStorage } from "./media-storage.ts";

export interface CreativeOperatorDeps {
  database: Database;
  media: MediaStorage;
  downloadVideo: DownloadVideo;
  /** Requests a VAST tag once, and returns what keeps its ads from being shown. */
  faultOfTag(url: string): Promise<string | undefined>;
  isPlainHttpAllowed: boolean;
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  now: () => Date;
}

/** 100 MiB at 1 Mbit/s. */
const LONGEST_UPLOAD_MS = 15 * 60_000;
/** A video is fetched, converted and given renditions before the answer; each step has its own limit. */
const LONGEST_WORK_MS = 15 * 60_000;

/** The file's name for the operator: it appears in the command that converts it. */
const query = z.object({ name: z.string().min(1).max(1024) });
const params = z.object({ creativeId: z.string().max(64) });
const captionsParams = params.extend({ language: z.string().max(64) });
const FILE_TYPE = "application/octet-stream";
const consumes = [FILE_TYPE];
const response = { 200: creative };
const stored = { ...response, ...refusals(507) };
const added = {
  ...refusals(507),
  201: creative.extend({
    converted: z.string().nullable().describe("How the video was converted, if it was."),
    renditionFault: z.string().nullable().describe("Why smaller renditions are missing, if they are."),
    posterFault: z.string().nullable().describe("Why the server made no poster, if it tried."),
  }),
};
const operations = {
  upload: {
    operationId: "uploadVideo",
    description: "Adds a video from its bytes.",
    querystring: query,
    consumes,
    response: added,
  },
  fetch: {
    operationId: "addVideoByAddress",
    description: "Adds a video that this server fetches from an address.",
    body: z
      .strictObject({ url: z.string().trim().max(4096) })
      .meta({ examples: [{ url: "https://cdn.example/spring-sale.mp4" }] }),
    response: added,
  },
  tag: {
    operationId: "addVastTag",
    description: "Adds a VAST tag, which is requested once to try it, and then for each ad.",
    querystring: confirmation,
    body: z
      .strictObject({ url: z.string().trim() })
      .meta({ examples: [{ url: "https://ads.example/vast?correlator=[CACHEBUSTING]" }] }),
    response: { 201: creative, ...refusals(409) },
  },
  list: {
    operationId: "listCreatives",
    description: "Lists the videos and VAST tags.",
    response: { 200: z.object({ creatives: z.array(creative) }) },
  },
  show: { operationId: "showCreative", description: "Returns a creative.", response, params },
  reports: {
    operationId: "listAdReports",
    description: "Counts viewers' objections by creative and reason, the most frequent first.",
    querystring: z.object({
      creativeId: z.string().max(64).optional(),
      botId: telegramId.optional().describe("Of the viewers of one bot only."),
      after: z.string().max(512).optional().describe("`next` of an earlier list with the same filter."),
      limit: listLimit,
    }),
    response: { 200: adReportsPage },
  },
  rename: {
    operationId: "renameCreative",
    description: "Names a creative for the operator; viewers never see it.",
    response,
    params,
    body: z.strictObject({ name: boundedText(128) }).meta({ examples: [{ name: "Spring sale, 15 s" }] }),
  },
  setLegalLine: {
    operationId: "setLegalLine",
    description: "Sets the text that a law requires beside the ad, such as a registration number; null removes it.",
    response,
    params,
    body: z
      .strictObject({ legalLine: boundedText(256).nullable() })
      .meta({ examples: [{ legalLine: "Shop Ltd, reg. no. 12345678" }] }),
  },
  setPoster: {
    operationId: "setPoster",
    description: "Replaces a video's poster by a JPEG, PNG or WebP picture.",
    response: stored,
    params,
    consumes,
  },
  setCaptions: {
    operationId: "setCaptions",
    description: "Sets a video's captions in a language, from a WebVTT file.",
    response: stored,
    params: captionsParams,
    consumes,
  },
  removeCaptions: {
    operationId: "removeCaptions",
    description: "Removes a video's captions in a language.",
    response,
    params: captionsParams,
  },
};

/**
 * `POST /creatives?name=`: the bytes of a video; `POST /creatives/addresses`: an address to fetch one from; `POST
 * /creatives/tags`: a VAST tag. Adding the same one again returns the same creative. `PUT
 * /creatives/{id}/captions/{language}`: the bytes of a WebVTT file; `PUT /creatives/{id}/poster`: those of a picture.
 * `GET /creatives/reports`: viewers' objections.
 */
export function creativeOperatorRoutes(scope: CheckedScope, deps: CreativeOperatorDeps): void {
  const { database, media, downloadVideo, isPlainHttpAllowed, now } = deps;
  // A stream, so that a video is never held in memory as a whole. The verb that reads it limits its size.
  scope.addContentTypeParser(FILE_TYPE, async (_request: unknown, payload: Readable) => payload);

  scope.post(
    "/creatives",
    { config: { bodyTimeoutMs: LONGEST_UPLOAD_MS, answerTimeoutMs: LONGEST_WORK_MS }, schema: operations.upload },
    async (request, reply) => {
      const { name } = request.query;
      const added = await addCreative({ database, media }, { bytes: bytesOf(request), name, now: now() });
      return reply.code(201).send(addedAnswer(added));
    },
  );

  const fetching = { config: { answerTimeoutMs: LONGEST_WORK_MS }, schema: operations.fetch };
  scope.post("/creatives/addresses", fetching, async (request, reply) => {
    const { url } = request.body;
    const added = await addCreativeByAddress({ database, media, downloadVideo }, { url, now: now() });
    return reply.code(201).send(addedAnswer(added));
  });

  scope.post("/creatives/tags", { schema: operations.tag }, async (request, reply) => {
    const { url } = request.body;
    const { confirmed: isConfirmed } = request.query;
    const malformed = vastTagFault(url, isPlainHttpAllowed);
    const fault = malformed === undefined && !isConfirmed ? await deps.faultOfTag(url) : undefined;
    const message = `returned no ad that can be shown: ${fault}; while that lasts, its campaigns are passed over`;
    requireConfirmation(fault === undefined ? [] : [{ field: "url", message }], { isConfirmed });
    const added = await addVastTag(database, { url, isPlainHttpAllowed, now: now() });
    if (added.outcome === "refused") throw invalid(added.message);
    return reply.code(201).send(added.creative);
  });

  scope.get("/creatives", { schema: operations.list }, async () => ({ creatives: await listCreatives(database) }));

  scope.get("/creatives/reports", { schema: operations.reports }, async ({ query }) => {
    await requireCreative(database, query.creativeId);
    await deps.requireBots([query.botId]);
    const listed = await listAdReports(database, { ...query, now: now() });
    if (listed.outcome === "bad-cursor") throw invalidField("after", "is not a cursor of this list");
    return listed.page;
  });

  scope.put("/creatives/:creativeId/name", { schema: operations.rename }, async (request) => {
    const { creativeId } = request.params;
    const named = await nameCreative(database, { creativeId, name: request.body.name });
    if (!named) throw unknownCreative(creativeId);
    return named;
  });

  scope.put("/creatives/:creativeId/legal-line", { schema: operations.setLegalLine }, async (request) => {
    const { creativeId } = request.params;
    const set = await setLegalLine(database, { creativeId, legalLine: request.body.legalLine });
    if (!set) throw unknownCreative(creativeId);
    return set;
  });

  scope.get("/creatives/:creativeId", { schema: operations.show }, async (request) => {
    const { creativeId } = request.params;
    const creative = await findCreative(database, creativeId);
    if (!creative) throw unknownCreative(creativeId);
    return creative;
  });

  scope.put("/creatives/:creativeId/poster", { schema: operations.setPoster }, async (request) => {
    const { creativeId } = request.params;
    const set = await setPoster({ database, media }, { creativeId, bytes: bytesOf(request) });
    if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
    if (set.outcome === "refused") throw invalid(set.message);
    return set.creative;
  });

  scope.put("/creatives/:creativeId/captions/:language", { schema: operations.setCaptions }, async (request) => {
    const { creativeId, language } = request.params;
    const set = await setCaptions({ database, media }, { creativeId, language, bytes: bytesOf(request) });
    if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
    if (set.outcome === "refused") throw invalid(set.message);
    return set.creative;
  });

  scope.delete("/creatives/:creativeId/captions/:language", { schema: operations.removeCaptions }, async (request) => {
    const { creativeId, language } = request.params;
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
  const { creative, converted = null, renditionFault = null, posterFault = null } = added;
  return { ...creative, converted, renditionFault, posterFault };
}

function bytesOf({ body }: Pick<FastifyRequest, "body">): AsyncIterable<Uint8Array> {
  if (body instanceof Readable) return bodyBytes(body);
  throw invalid("the file is missing: send its bytes as application/octet-stream");
}

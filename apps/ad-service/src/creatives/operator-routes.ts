import { unescapedAddress } from "@intermission/ad-core/web-address";
import { creativeRoutes, type VastTrial } from "@intermission/operator-api/creatives";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { fileFault } from "@intermission/operator-api/file-faults";
import { vastReasonsInEnglish, vastReasonText } from "@intermission/operator-api/vast-reasons-in-english";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import {
  type ConfirmableEffect,
  conflict,
  invalidField,
  notFound,
  requireConfirmation,
} from "@intermission/server/refuse";
import { type OperatorHandlers, serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { listAdReports } from "./ad-reports.ts";
import { type AddCreativeOutcome, addCreative, addCreativeByAddress, type DownloadVideo } from "./add-creative.ts";
import { removeCaptions, setCaptions, setPoster } from "./captions-and-posters.ts";
import {
  addVastTag,
  findCreative,
  nameCreative,
  requireCreative,
  setLegalTexts,
  unknownCreative,
  vastTagFault,
} from "./creatives.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import { listCreatives } from "./list-creatives.ts";
import type { MediaStorage } from "./media-storage.ts";
import { refusedFile } from "./refused-file.ts";
import { addOnce, listUploads, removeUpload } from "./resumable-uploads.ts";
import { readReviewQueue, reviewCreative, submitCreative } from "./review-creatives.ts";
import {
  requireFinishedUpload,
  requireOwnUpload,
  resumableUploadRoutes,
  type UploadDeps,
  unknownUpload,
} from "./upload-routes.ts";

export interface CreativeOperatorDeps extends UploadDeps {
  database: Database;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  downloadVideo: DownloadVideo;
  /** Requests a VAST tag once, and returns what keeps its ads from being shown. */
  faultOfTag(url: string): Promise<VastTrial["fault"]>;
  /** Requests a VAST tag once, and returns each step. */
  tryTag(url: string): Promise<VastTrial>;
  isPlainHttpAllowed: boolean;
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  /** Refuses an advertiser that does not exist. */
  requireAdvertiser(nameOrId: string): Promise<{ advertiserId: string }>;
  /** Refreshed after each decision, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  /** The caller's advertiser: what such a person uploads is a draft, and what one changes waits for approval. Undefined: an operator. */
  submitterOf(request: FastifyRequest): string | undefined;
  now: () => Date;
}

/**
 * `POST /creatives?name=`: the bytes of a video; `POST /creatives/addresses`: an address to fetch one from; `POST
 * /creatives/tags`: a VAST tag. Adding the same one again returns the same creative. `PUT
 * /creatives/{id}/captions/{language}`: the bytes of a WebVTT file; `PUT /creatives/{id}/poster`: those of a picture.
 * `GET /creatives/reports`: viewers' objections.
 */
export function creativeOperatorRoutes(scope: CheckedScope, deps: CreativeOperatorDeps): void {
  const { database, media, ffmpeg, downloadVideo, now } = deps;
  resumableUploadRoutes(scope, deps);
  serveOperatorRoutes(scope, creativeRoutes, {
    ...captionsAndPosters(deps),
    ...reviews(deps),
    ...vastTags(deps),
    ...uploads(deps),

    async addVideoByAddress(request) {
      const url = unescapedAddress(request.body.url);
      const video = { url, author: authorOf(request.http), now: now() };
      return addedAnswer(await addCreativeByAddress({ database, media, ffmpeg, downloadVideo }, video));
    },

    async listCreatives({ query, http }) {
      const { advertiser, ...of } = query;
      const owner = advertiser === undefined ? undefined : await deps.requireAdvertiser(advertiser);
      const whose = { advertiserId: owner?.advertiserId, campaignsOf: deps.submitterOf(http) };
      const { rows: creatives, next, total } = await listCreatives(database, { ...of, ...whose });
      return { creatives, next, total };
    },

    async listAdReports({ query }) {
      await requireCreative(database, query.creativeId);
      await deps.requireBots([query.botId]);
      const listed = await listAdReports(database, { ...query, now: now() });
      if (listed.outcome === "bad-cursor")
        throw invalidField("after", "is not a cursor of this list", fieldFault("CURSOR"));
      return listed.page;
    },

    async renameCreative(request) {
      const { creativeId } = request.params;
      const named = await nameCreative(database, {
        creativeId,
        name: request.body.name,
        author: authorOf(request.http),
      });
      if (!named) throw unknownCreative(creativeId);
      return named;
    },

    async setLegalLine(request) {
      const { creativeId } = request.params;
      const set = await setLegalTexts(database, {
        creativeId,
        ...request.body,
        isSubmission: isSubmission(deps, request.http),
        author: authorOf(request.http),
      });
      if (!set) throw unknownCreative(creativeId);
      return set;
    },

    async showCreative(request) {
      const { creativeId } = request.params;
      const creative = await findCreative(database, creativeId);
      if (!creative) throw unknownCreative(creativeId);
      return creative;
    },
  });
}

/** Whether the caller is one of an advertiser's people, whose creatives need approval. */
function isSubmission({ submitterOf }: CreativeOperatorDeps, http: FastifyRequest): boolean {
  return submitterOf(http) !== undefined;
}

function uploads(deps: CreativeOperatorDeps) {
  const { database, media, ffmpeg, resumable, now } = deps;
  const ownerIn = async (advertiser: string | undefined, http: FastifyRequest) => {
    if (advertiser === undefined) return {};
    const { advertiserId } = await deps.requireAdvertiser(advertiser);
    return { owner: { advertiserId, isSubmission: isSubmission(deps, http) } };
  };
  return {
    async uploadVideo({ query: { name, advertiser, pictureSeconds }, body: bytes, http }) {
      const owner = await ownerIn(advertiser, http);
      const video = { bytes, name, pictureSeconds, author: authorOf(http), now: now(), ...owner };
      return addedAnswer(await addCreative({ database, media, ffmpeg }, video));
    },

    async addUploadedVideo({ query: { advertiser, pictureSeconds }, body: { uploadId, name }, http }) {
      const owner = await ownerIn(advertiser, http);
      requireOwnUpload(deps, { uploadId, http });
      const added = await addOnce(resumable, JSON.stringify([uploadId, name, pictureSeconds, owner]), async () => {
        const bytes = await requireFinishedUpload(deps, { uploadId, http });
        const video = { bytes, name, pictureSeconds, author: authorOf(http), now: now(), ...owner };
        const added = await addCreative({ database, media, ffmpeg }, video);
        // A refused file never becomes a video, and would count as unfinished for a day. One that found the server busy stays.
        const mayBeAddedLater = added.outcome === "refused" && added.faults.some(({ code }) => code === "SERVER_BUSY");
        if (!mayBeAddedLater) await removeUpload(resumable, uploadId);
        return added;
      });
      return addedAnswer(added);
    },

    async listUploads({ http }) {
      return { uploads: await listUploads(resumable, deps.callerOf(http)) };
    },

    async removeUpload({ params: { uploadId }, http }) {
      const own = await listUploads(resumable, deps.callerOf(http));
      const found = own.find((upload) => upload.uploadId === uploadId);
      if (found === undefined) throw unknownUpload(uploadId);
      await removeUpload(resumable, uploadId);
      return found;
    },
  } satisfies Partial<OperatorHandlers<typeof creativeRoutes>>;
}

function vastTags({ database, faultOfTag, tryTag, isPlainHttpAllowed, now }: CreativeOperatorDeps) {
  return {
    async addVastTag(request) {
      const url = unescapedAddress(request.body.url);
      const { confirmed: isConfirmed } = request.query;
      const malformed = vastTagFault(url, isPlainHttpAllowed);
      if (malformed !== undefined) throw invalidField("url", malformed.message, malformed.fault);
      const fault = isConfirmed ? null : await faultOfTag(url);
      if (fault !== null) requireConfirmation([effectOfTag(fault)], { isConfirmed });
      return addVastTag(database, { url, author: authorOf(request.http), now: now() });
    },

    async tryVastTag({ body }) {
      const url = unescapedAddress(body.url);
      const malformed = vastTagFault(url, isPlainHttpAllowed);
      if (malformed !== undefined) throw invalidField("url", malformed.message, malformed.fault);
      return tryTag(url);
    },
  } satisfies Partial<OperatorHandlers<typeof creativeRoutes>>;
}

function effectOfTag({ code, reason }: NonNullable<VastTrial["fault"]>): ConfirmableEffect {
  const fault = vastReasonText(vastReasonsInEnglish, reason);
  return {
    field: "url",
    message: `returned no ad that can be shown: ${fault} (VAST error ${code}); while that lasts, its campaigns are passed over`,
    effect: fieldFault("TAG_WITHOUT_AD", { fault, code: String(code) }),
  };
}

function reviews({ database, campaigns, now }: CreativeOperatorDeps) {
  const reviewed = async (of: Parameters<typeof reviewCreative>[1]) => {
    const outcome = await reviewCreative(database, of);
    if (outcome.outcome === "unknown-creative") throw unknownCreative(of.creativeId);
    if (outcome.outcome === "changed") {
      const message = `it has changed since: look at revision ${outcome.revision}, and decide about that`;
      throw conflict("CREATIVE_CHANGED", message, { revision: String(outcome.revision) });
    }
    if (outcome.outcome === "draft") {
      throw conflict(
        "CREATIVE_IS_DRAFT",
        "its advertiser has not submitted it: only what was submitted is decided about",
      );
    }
    await campaigns.refresh();
    return outcome.creative;
  };
  return {
    async readReviewQueue({ query }) {
      return readReviewQueue(database, query);
    },

    async approveCreative({ params, body, http }) {
      return reviewed({ ...params, ...body, review: "approved", author: authorOf(http), now: now() });
    },

    async refuseCreative({ params, body, http }) {
      return reviewed({ ...params, ...body, review: "refused", author: authorOf(http), now: now() });
    },

    async reopenReview({ params, body, http }) {
      return reviewed({ ...params, ...body, review: "waiting", author: authorOf(http), now: now() });
    },

    async submitCreative({ params, http }) {
      const submitted = await submitCreative(database, { ...params, author: authorOf(http), now: now() });
      if (submitted.outcome === "unknown-creative") throw unknownCreative(params.creativeId);
      if (submitted.outcome === "approved-already")
        throw conflict("CREATIVE_APPROVED", "it is approved already: there is nothing to submit");
      return submitted.creative;
    },
  } satisfies Partial<OperatorHandlers<typeof creativeRoutes>>;
}

function captionsAndPosters(deps: CreativeOperatorDeps) {
  const { database, media, ffmpeg } = deps;
  return {
    async setPoster({ params: { creativeId }, query: { name }, body: bytes, http }) {
      const set = await setPoster(
        { database, media, ffmpeg },
        { creativeId, bytes, name, isSubmission: isSubmission(deps, http), author: authorOf(http) },
      );
      if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
      if (set.outcome === "refused") throw refusedFile(set.faults);
      return set.creative;
    },

    async setCaptions(request) {
      const { creativeId, language } = request.params;
      const set = await setCaptions(
        { database, media },
        {
          creativeId,
          language,
          bytes: request.body,
          isSubmission: isSubmission(deps, request.http),
          author: authorOf(request.http),
        },
      );
      if (set.outcome === "unknown-creative") throw unknownCreative(creativeId);
      if (set.outcome === "refused") throw refusedFile(set.faults);
      return set.creative;
    },

    async removeCaptions(request) {
      const { creativeId, language } = request.params;
      const removed = await removeCaptions(database, {
        creativeId,
        language,
        isSubmission: isSubmission(deps, request.http),
        author: authorOf(request.http),
      });
      if (removed.outcome === "unknown-creative") throw unknownCreative(creativeId);
      if (removed.outcome === "no-such-captions") throw notFound(`it has no captions in ${language}`);
      return removed.creative;
    },
  } satisfies Partial<OperatorHandlers<typeof creativeRoutes>>;
}

function addedAnswer(added: AddCreativeOutcome) {
  if (added.outcome === "refused") {
    const { faults, conversion: command } = added;
    throw refusedFile(command === undefined ? faults : [...faults, fileFault("CONVERT_WITH", { command })]);
  }
  const { creative, converted = null, renditionFault = null, posterFault = null } = added;
  return { ...creative, converted, renditionFault, posterFault };
}

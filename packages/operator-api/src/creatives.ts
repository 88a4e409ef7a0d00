import { adReportReason, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { creativeKinds, creativeSorts, reviewStates } from "./creative-words.ts";
import { forms } from "./field-forms.ts";
import {
  boundedText,
  confirmation,
  find,
  listLimit,
  moment,
  namesSetting,
  next,
  nothingToChange,
  sortBy,
  total,
  wholeList,
} from "./fields.ts";
import { filedCreative } from "./ord.ts";
import type { OperatorRoutes } from "./route.ts";
import { vastReason } from "./vast-reasons.ts";

/** A lighter file of a creative's video. */
const rendition = z.object({
  fileName: z.string().describe("Below `/media/`."),
  mediaType: z.string(),
  byteLength: z.int(),
  width: z.int(),
  height: z.int(),
});
export type Rendition = z.infer<typeof rendition>;

/** A WebVTT file. */
const captions = z.object({
  language: z.string().describe("BCP 47, as `en` or `pt-BR`."),
  fileName: z.string().describe("Below `/media/`."),
});
export type Captions = z.infer<typeof captions>;

const creativeKind = z.enum(creativeKinds);

const ofVideo = "Null for a VAST tag: its response contains it.";
export const creative = z.object({
  creativeId: z.string(),
  name: z.string().nullable().describe("For the operator; at first the name of its file, or the host of its tag."),
  kind: creativeKind.describe(
    "A stored file, a video at an address elsewhere, or a VAST tag that is requested at each opening.",
  ),
  url: z.string().nullable().describe("The address of the video (`address`) or of the tag (`vast`)."),
  sha256: z.string().nullable(),
  fileName: z.string().nullable().describe("Below `/media/`."),
  posterFileName: z.string().nullable(),
  mediaType: z.string().nullable().describe(ofVideo),
  byteLength: z.int().nullable().describe(ofVideo),
  durationMs: z.int().nullable().describe(ofVideo),
  width: z.int().nullable().describe(ofVideo),
  height: z.int().nullable().describe(ofVideo),
  renditions: z.array(rendition).describe("The heaviest first."),
  captions: z.array(captions),
  legalLine: z.string().nullable().describe("Text that a law requires beside the ad."),
  erid: z.string().nullable().describe("The identifier that an operator of ad data has given it (Russia)."),
  marking: z
    .string()
    .nullable()
    .describe(
      "What viewers are shown of it in its newest campaign, with the advertiser's name. Null without an erid, for an operator's that nothing shows, and for a VAST tag.",
    ),
  ...filedCreative,
  createdAt: moment,
  advertiserId: z.string().nullable().describe("Whose it is; null: the operator's."),
  review: z
    .enum(reviewStates)
    .describe(
      "Only what is `approved` is shown. An operator's uploads are approved at once; an advertiser's are a `draft` until they are submitted.",
    ),
  reviewReason: z.string().nullable().describe("Why it was refused."),
  reviewedAt: moment.nullable(),
  submittedAt: moment,
  revision: z.int().describe("Changes with what viewers see; a decision names it."),
});
export type Creative = z.infer<typeof creative>;

/** A creative in a list, with what shows whose it is and where it is shown. */
const listedCreative = creative.extend({
  advertiser: z.string().nullable().describe("Whose it is, by name; null: the operator's."),
  campaigns: z
    .array(z.object({ campaignId: z.string(), name: z.string() }))
    .describe("Those that show it and are not archived, the latest five. For an advertiser, only its own."),
  campaignCount: z.int().describe("How many there are."),
});
export type ListedCreative = z.infer<typeof listedCreative>;

const adReport = z.object({
  creativeId: z.string(),
  reason: adReportReason,
  reports: z.int().describe("At most one of each user and day."),
  users: z.int(),
  latestAt: moment,
});
export type AdReport = z.infer<typeof adReport>;
const adReportsPage = z.object({
  reports: z.array(adReport),
  next: z.string().nullable().describe("The cursor of the rest of this list; null at its end."),
  hasMore: z.boolean(),
});
export type AdReportsPage = z.infer<typeof adReportsPage>;

/** One request on the way from a tag to its ad. */
const vastStep = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("document"),
    url: z.string().describe("With its macros filled in."),
    milliseconds: z.int(),
    contentType: z.string().nullable(),
    byteLength: z.int(),
    version: z.int().describe("Of VAST; 0 if the document does not say."),
    ads: z.array(
      z.object({
        id: z.string().nullable(),
        adSystem: z.string().nullable(),
        title: z.string().nullable(),
        sequence: z.int().describe("In an ad pod; 0 outside of one."),
        wraps: z.string().nullable().describe("The tag that a wrapper leads to; null for an ad with media."),
      }),
    ),
  }),
  z.object({
    outcome: z.literal("redirect"),
    url: z.string(),
    milliseconds: z.int(),
    location: z.string(),
  }),
  z.object({
    outcome: z.literal("fault"),
    url: z.string(),
    milliseconds: z.int(),
    code: z.int().describe("Of VAST 4.2, section 2.3.6.3."),
    reason: vastReason,
  }),
]);

/**
 * Why a part of an ad server's answer is not used although the answer may still lead to an ad; `docs/serving.md` has the
 * meaning of each.
 */
export const dropReasons = [
  "pod-ad",
  "limit",
  "media-address",
  "media-type",
  "media-delivery",
  "media-script",
  "media-codec",
  "tracker-address",
  "click-address",
  "companion",
  "captions",
  "element",
  "attribute",
  "event",
] as const;
export type DropReason = (typeof dropReasons)[number];

const vastTrial = z.object({
  steps: z.array(vastStep).describe("In the order of their answers."),
  ad: z
    .object({
      adId: z.string().nullable(),
      adSystem: z.string().nullable(),
      advertiser: z.string().nullable(),
      title: z.string().nullable(),
      mediaUrl: z.string().describe("The media file that a phone with Android would get."),
      mediaType: z.string(),
      width: z.int(),
      height: z.int(),
      durationMs: z.int(),
      clickThrough: z.string().nullable(),
      endCardUrl: z.string().nullable().describe("A companion that is shown after the video."),
      trackers: z.int().describe("How many addresses a view would call."),
    })
    .nullable()
    .describe("What would be shown; null: nothing."),
  fault: z.object({ code: z.int(), reason: vastReason }).nullable().describe("Why nothing would be shown."),
  dropped: z
    .array(z.object({ reason: z.enum(dropReasons), count: z.int() }))
    .describe("Parts of the answers that are not used."),
});
export type VastTrial = z.infer<typeof vastTrial>;

const MINUTES = 60_000;
/** 100 MiB at 1 Mbit/s. */
const UPLOAD_MS = 15 * MINUTES;
/** A video is fetched, converted and given renditions before the answer; each step has its own limit. */
const CONVERSION_MS = 15 * MINUTES;

const revision = z.int("must be the revision that was looked at").min(1).describe("The one that was looked at.");
const params = z.object({ creativeId: z.string().max(64) });
const captionsParams = params.extend({ language: z.string().max(64) });
const added = creative.extend({
  converted: z.string().nullable().describe("How the video was converted, if it was."),
  renditionFault: z.string().nullable().describe("Why smaller renditions are missing, if they are."),
  posterFault: z.string().nullable().describe("Why the server made no poster, if it tried."),
});

/** How long a picture is shown as an ad, in seconds. */
export const pictureSeconds = { min: 5, max: 30, usual: 10 } as const;
const secondsFault = `must be a whole number of seconds from ${pictureSeconds.min} to ${pictureSeconds.max}`;
const shownFor = z.coerce
  .number(secondsFault)
  .int(secondsFault)
  .min(pictureSeconds.min, secondsFault)
  .max(pictureSeconds.max, secondsFault)
  .default(pictureSeconds.usual)
  .describe("How many seconds a picture is shown; a video has its own length.");

const uploadIdForm = z.string().regex(/^[0-9a-f]{48}$/, "must be the last part of the upload's address");

const unfinishedUpload = z.object({
  uploadId: z.string(),
  name: z.string().nullable().describe("Of the file; null: the client did not send it."),
  sent: z.int().describe("Bytes that have arrived."),
  byteLength: z.int(),
});
export type UnfinishedUpload = z.infer<typeof unfinishedUpload>;

export const creativeRoutes = {
  uploadVideo: {
    method: "POST",
    path: "/creatives",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "creative",
    description: "Adds a video from its bytes, or makes one of a picture.",
    query: z.object({
      name: z.string().min(1).max(1024).describe("Of the file."),
      advertiser: z
        .string()
        .max(128)
        .optional()
        .describe("Whose it is. An advertiser's own upload is a draft, to be submitted for approval."),
      pictureSeconds: shownFor,
    }),
    body: "file",
    status: 201,
    answer: added,
    refusals: [507],
    bodyTimeoutMs: UPLOAD_MS,
    answerTimeoutMs: CONVERSION_MS,
  },
  addUploadedVideo: {
    method: "POST",
    path: "/creatives/uploaded",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "creative",
    description:
      "Adds a video from a finished upload by the tus protocol, whose endpoint is `/operator/v1/uploads` with the same `advertiser`.",
    query: z.object({
      advertiser: z.string().max(128).optional().describe("As of `POST /creatives`."),
      pictureSeconds: shownFor,
    }),
    body: z
      .strictObject({
        uploadId: uploadIdForm,
        name: z.string().min(1).max(1024).describe("Of the file."),
      })
      .meta({ examples: [{ uploadId: "0123456789abcdef".repeat(3), name: "spring.mp4" }] }),
    status: 201,
    answer: added,
    refusals: [409, 507],
    answerTimeoutMs: CONVERSION_MS,
  },
  listUploads: {
    method: "GET",
    path: "/creatives/uploads",
    access: "signed-in",
    description: "Lists the caller's unfinished uploads, of which few are allowed. They are removed after a day.",
    answer: z.object({ uploads: z.array(unfinishedUpload) }),
  },
  removeUpload: {
    method: "DELETE",
    path: "/creatives/uploads/:uploadId",
    access: "signed-in",
    changes: null,
    description: "Removes an own unfinished upload, and returns it.",
    params: z.object({ uploadId: uploadIdForm }),
    answer: unfinishedUpload,
  },
  addVideoByAddress: {
    method: "POST",
    path: "/creatives/addresses",
    access: grants.staff,
    changes: "creative",
    description: "Adds a video that this server fetches from an address.",
    body: z
      .strictObject({ url: z.string().trim().max(4096) })
      .meta({ examples: [{ url: "https://cdn.example/spring-sale.mp4" }] }),
    status: 201,
    answer: added,
    refusals: [507],
    answerTimeoutMs: CONVERSION_MS,
  },
  addVastTag: {
    method: "POST",
    path: "/creatives/tags",
    access: grants.staff,
    changes: "creative",
    description: "Adds a VAST tag, which is requested once to try it, and then for each ad.",
    query: confirmation,
    body: z
      .strictObject({ url: z.string().trim() })
      .meta({ examples: [{ url: "https://tags.example/vast?correlator=[CACHEBUSTING]" }] }),
    status: 201,
    answer: creative,
    refusals: [409],
  },
  tryVastTag: {
    method: "POST",
    path: "/creatives/tags/trial",
    access: grants.staff,
    changes: null,
    description:
      "Requests a VAST tag once, as an opening does, and returns the chain of wrappers and the media. Nothing is stored, and no tracker is called.",
    body: z
      .strictObject({ url: z.string().trim() })
      .meta({ examples: [{ url: "https://tags.example/vast?correlator=[CACHEBUSTING]" }] }),
    answer: vastTrial,
  },
  listCreatives: {
    method: "GET",
    path: "/creatives",
    access: { ...grants.readers, ...grants.ownAdvertiser },
    description: "Lists the videos and VAST tags.",
    query: z.object({
      ...wholeList,
      order: wholeList.order.unwrap().default("newest"),
      kind: creativeKind.optional(),
      advertiser: z.string().max(128).optional().describe("Its id, or its name in any case."),
      review: z.enum(reviewStates).optional(),
      find: find("the name, the id or the address"),
      sort: sortBy(creativeSorts),
    }),
    answer: z.object({ creatives: z.array(listedCreative), next, total }),
  },
  readReviewQueue: {
    method: "GET",
    path: "/creatives/queue",
    access: grants.readers,
    description: "Returns the creatives that wait for approval, the longest waiting first.",
    query: z.object({ limit: listLimit }),
    answer: z.object({ waiting: z.int().describe("How many wait."), creatives: z.array(creative) }),
  },
  approveCreative: {
    method: "POST",
    path: "/creatives/:creativeId/approve",
    access: grants.staff,
    changes: "creative",
    description: "Lets a creative be shown.",
    params,
    body: z.strictObject({ revision }).meta({ examples: [{ revision: 1 }] }),
    answer: creative,
    refusals: [409],
  },
  refuseCreative: {
    method: "POST",
    path: "/creatives/:creativeId/refuse",
    access: grants.staff,
    changes: "creative",
    description: "Keeps a creative from being shown, with a reason for its advertiser.",
    params,
    body: z
      .strictObject({ revision, reason: boundedText(500).describe("For its advertiser.") })
      .meta({ examples: [{ revision: 1, reason: "The text is too small to read" }] }),
    answer: creative,
    refusals: [409],
  },
  submitCreative: {
    method: "POST",
    path: "/creatives/:creativeId/submit",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description: "Submits a draft, or a refused creative again, for approval.",
    params,
    answer: creative,
    refusals: [409],
  },
  reopenReview: {
    method: "POST",
    path: "/creatives/:creativeId/reopen",
    access: grants.staff,
    changes: "creative",
    description: "Takes a decision back: the creative waits for approval again, and is not shown until then.",
    params,
    body: z.strictObject({ revision }).meta({ examples: [{ revision: 1 }] }),
    answer: creative,
    refusals: [409],
  },
  listAdReports: {
    method: "GET",
    path: "/creatives/reports",
    access: grants.readers,
    description: "Counts viewers' objections by creative and reason, the most frequent first.",
    query: z.object({
      creativeId: z.string().max(64).optional(),
      botId: telegramId.optional().describe("Of the viewers of one bot only."),
      after: z.string().max(512).optional().describe("`next` of an earlier list with the same filter."),
      limit: listLimit,
    }),
    answer: adReportsPage,
  },
  showCreative: {
    method: "GET",
    path: "/creatives/:creativeId",
    access: { ...grants.readers, ...grants.ownCreative },
    description: "Returns a creative.",
    params,
    answer: creative,
  },
  renameCreative: {
    method: "PUT",
    path: "/creatives/:creativeId/name",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description: "Names a creative for the operator; viewers never see it.",
    params,
    body: z.strictObject({ name: boundedText(128) }).meta({ examples: [{ name: "Spring sale, 15 s" }] }),
    answer: creative,
  },
  setLegalLine: {
    method: "PUT",
    path: "/creatives/:creativeId/legal-line",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description:
      "Sets what a law requires beside the ad: a text, such as a registration number, Russia's `erid`, and what is filed to get one. Null removes one, and what is not named stays.",
    params,
    body: z
      .strictObject({
        legalLine: boundedText(256).nullable().optional(),
        erid: z
          .string()
          .trim()
          .regex(
            forms.ERID,
            "must be an erid: 4 to 64 Latin letters, digits, hyphens and underscores, such as 2VtzqwP8x4a",
          )
          .nullable()
          .optional()
          .describe(
            "Shown with the word that the law asks for and the advertiser's name; `{erid}` in landing addresses.",
          ),
        kktu: filedCreative.kktu.optional(),
        adDescription: filedCreative.adDescription.optional(),
      })
      .refine(namesSetting, nothingToChange)
      .meta({ examples: [{ legalLine: "Shop Ltd, reg. no. 12345678" }, { erid: "2VtzqwP8x4a" }] }),
    answer: creative,
  },
  setPoster: {
    method: "PUT",
    path: "/creatives/:creativeId/poster",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description:
      "Replaces a video's poster by a JPEG, PNG or WebP picture. One that is turned or too large is turned and made smaller, if the server has ffmpeg.",
    params,
    query: z.object({ name: z.string().min(1).max(1024).default("poster.jpg").describe("Of the file, for messages.") }),
    body: "file",
    answer: creative,
    refusals: [507],
  },
  setCaptions: {
    method: "PUT",
    path: "/creatives/:creativeId/captions/:language",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description: "Sets a video's captions in a language, from a WebVTT file.",
    params: captionsParams,
    body: "file",
    answer: creative,
    refusals: [507],
  },
  removeCaptions: {
    method: "DELETE",
    path: "/creatives/:creativeId/captions/:language",
    access: { ...grants.staff, ...grants.ownCreative },
    changes: "creative",
    description: "Removes a video's captions in a language.",
    params: captionsParams,
    answer: creative,
  },
} as const satisfies OperatorRoutes;

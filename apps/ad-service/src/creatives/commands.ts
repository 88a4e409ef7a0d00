import { pictureSeconds } from "@intermission/operator-api/creatives";
import { withExamples } from "@intermission/server/command-line";
import {
  type CaptionsFile,
  captionsOption,
  collect,
  existingFile,
  wholeNumberIn,
} from "@intermission/server/command-options";
import { recordOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { type CommandInput, callRoute, list, subject, type Verb, verb } from "@intermission/server/route-commands";
import { addVideoByAddress, uploadCaptions, uploadPoster, uploadVideo } from "./upload.ts";

const anId = "cre_0a1b2c3d4e5f60718293a4b5";
const inQueue = { text: "as shown by creatives queue", example: anId } as const;

interface VideoOptions {
  from?: string;
  captions?: CaptionsFile[];
  poster?: string;
  pictureSeconds?: number;
}

const add: Verb = (command, context) => {
  withExamples(command.description("add a video (MP4 of H.264 + AAC, or WebM, 1 to 180 s) or a picture as an ad"), [
    "creatives add spring.mp4",
    "creatives add spring.jpg --picture-seconds 15",
    "creatives add --from https://files.example.com/spring.mp4",
    "creatives add spring.mp4 --captions en=spring.en.vtt --captions pt-BR=spring.pt.vtt",
  ])
    .argument("[file]", "a format that phones do not play is converted if the server has ffmpeg", existingFile)
    .option(
      "--picture-seconds <seconds>",
      `how long a picture is shown: ${pictureSeconds.min} to ${pictureSeconds.max}, ${pictureSeconds.usual} by default`,
      wholeNumberIn(pictureSeconds),
    )
    .option("--from <address>", "instead of a file: the server fetches it once and keeps it")
    .option("--captions <language=file>", "WebVTT; repeatable", collect(captionsOption))
    .option("--poster <file>", "JPEG, PNG or WebP, instead of a frame of the video", existingFile)
    .action(async (file: string | undefined, { from, captions = [], poster, ...query }: VideoOptions) => {
      if ((file === undefined) === (from === undefined)) command.error("Give a file, or its address with --from.");
      const added = await (from === undefined
        ? uploadVideo(context, String(file), query)
        : addVideoByAddress(context, from));
      const { creativeId } = added;
      const withPoster = poster === undefined ? added : await uploadPoster(context, creativeId, poster);
      const creative = (await uploadCaptions(context, creativeId, captions)) ?? withPoster;
      context.print(creative, () => recordOf(creative));
    });
};

const poster: Verb = (command, context) => {
  withExamples(command.description("set another picture to show until a video plays"), [
    `creatives poster ${anId} spring.webp`,
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("<file>", "JPEG, PNG or WebP; a photo is turned and made smaller if the server has ffmpeg", existingFile)
    .action(async (creativeId: string, file: string) => {
      const creative = await uploadPoster(context, creativeId, file);
      context.print(creative, () => recordOf(creative));
    });
};

const captions: Verb = (command, context) => {
  withExamples(command.description("add, replace or remove captions of a video"), [
    `creatives captions ${anId} en=spring.en.vtt ru=spring.ru.vtt`,
    `creatives captions ${anId} --remove ru`,
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("[language=file...]", "WebVTT, in at most 10 languages", collect(captionsOption))
    .option("--remove <language>", "repeatable", collect(String))
    .action(async (creativeId: string, files: CaptionsFile[] = [], { remove = [] }: { remove?: string[] }) => {
      for (const language of remove) await callRoute(context, "removeCaptions", { params: { creativeId, language } });
      const creative =
        (await uploadCaptions(context, creativeId, files)) ??
        (await callRoute(context, "showCreative", { params: { creativeId } }));
      context.print(creative, () => recordOf(creative));
    });
};

const legalLine: Verb = (command, context) => {
  withExamples(command.description("set the text that a law requires beside the ad"), [
    `creatives legal-line ${anId} "Shop Ltd, reg. no. 12345678"`,
    `creatives legal-line ${anId} --remove`,
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("[text]", "at most 256 characters, such as a registration number")
    .option("--remove", "show none")
    .action(async (creativeId: string, text: string | undefined, { remove = false }: { remove?: boolean }) => {
      if ((text === undefined) !== remove) command.error("Give the text, or --remove.");
      const input = { params: { creativeId }, body: { legalLine: text ?? null } };
      const creative = await callRoute(context, "setLegalLine", input);
      context.print(creative, () => recordOf(creative));
    });
};

const erid: Verb = (command, context) => {
  withExamples(command.description("set the identifier that an operator of ad data has given it (Russia)"), [
    `creatives erid ${anId} 2VtzqwP8x4a`,
    `creatives erid ${anId} --remove`,
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("[erid]", "shown with the ad, and filled in for {erid} in landing addresses of videos")
    .option("--remove", "the ad needs none")
    .action(async (creativeId: string, text: string | undefined, { remove = false }: { remove?: boolean }) => {
      if ((text === undefined) !== remove) command.error("Give the erid, or --remove.");
      const input = { params: { creativeId }, body: { erid: text ?? null } };
      const creative = await callRoute(context, "setLegalLine", input);
      context.print(creative, () => recordOf(creative));
    });
};

/** The revision that the operator sees now: the decision is refused if it changes meanwhile. */
async function ofPresentRevision(input: CommandInput, context: CommandContext): Promise<CommandInput> {
  if (input.body.revision !== undefined) return input;
  const { revision } = await callRoute(context, "showCreative", { params: input.params });
  return { ...input, body: { ...input.body, revision } };
}
const revision = {
  text: "the one that you saw; default: the present one",
  value: "number",
  isRequired: false,
} as const;

interface Size {
  readonly width: number | null;
  readonly height: number | null;
}
const sizeOf = ({ width, height }: Size) => `${width}×${height}`;
const decimals = (value: number | null, unit: number, digits: number) =>
  value === null ? undefined : (value / unit).toFixed(digits);

export const creativeCommands = subject("creatives", "videos that campaigns show", {
  add,
  "add-tag": verb("addVastTag", {
    description: "add a VAST 2.0 to 4.2 tag, which is queried for an ad at each opening",
    arguments: ["url"],
    examples: ["'https://tags.example.net/vast?site=1&cb=[CACHEBUSTING]'"],
    options: { url: "the tag's address; its macros are filled in" },
  }),
  poster,
  captions,
  rename: verb("renameCreative", {
    description: "name a video for yourself; viewers never see it",
    arguments: ["creativeId", "name"],
    examples: [`${anId} "Spring sale, 15 s"`],
    options: { name: "at most 128 characters" },
  }),
  "legal-line": legalLine,
  erid,
  filing: verb("setLegalLine", {
    description: "set what an operator of ad data needs to know of it (Russia): ads ord sync files it for an erid",
    options: {
      kktu: { text: "the category of what it advertises", value: "code" },
      adDescription: { flag: "description", text: "of what it advertises", value: "text" },
    },
    without: ["legalLine", "erid"],
    examples: [`${anId} --kktu 30.10.1`],
  }),
  queue: list("readReviewQueue", "creatives", {
    description: "what advertisers uploaded and nobody approved yet",
    isPageInJson: true,
    columns: {
      CREATIVE: "creativeId",
      NAME: "name",
      ADVERTISER: "advertiserId",
      "SUBMITTED AT": "submittedAt",
      REVISION: "revision",
      FILE: "fileName",
    },
  }),
  approve: verb("approveCreative", {
    description: "let a video be shown",
    arguments: ["creativeId"],
    options: { creativeId: inQueue, revision },
    prepare: ofPresentRevision,
  }),
  refuse: verb("refuseCreative", {
    description: "keep a video from being shown",
    arguments: ["creativeId"],
    examples: [`${anId} --reason "The text is too small to read"`],
    options: { creativeId: inQueue, reason: { text: "for its advertiser", value: "text" }, revision },
    prepare: ofPresentRevision,
  }),
  reopen: verb("reopenReview", {
    description: "take a decision back: the video waits for approval again",
    without: ["revision"],
    prepare: ofPresentRevision,
  }),
  submit: verb("submitCreative", { description: "submit an advertiser's draft for approval" }),
  reports: list("listAdReports", "reports", {
    description: "what viewers object to, the most frequent first",
    examples: ["", `--creative-id ${anId}`, "--bot-id 7000000001 --limit 10 --json"],
    options: { creativeId: "of one creative only", botId: "of the viewers of one bot only" },
    isPageInJson: true,
    columns: { CREATIVE: "creativeId", REASON: "reason", REPORTS: "reports", USERS: "users", LATEST: "latestAt" },
  }),
  list: list("listCreatives", "creatives", {
    description: "all videos, newest first",
    options: {
      kind: "of one kind only",
      review: "in one state of the review only",
    },
    columns: {
      CREATIVE: "creativeId",
      KIND: ({ mediaType, kind }) => mediaType ?? kind,
      SECONDS: ({ durationMs }) => decimals(durationMs, 1000, 1),
      PIXELS: (creative) => creative.width && sizeOf(creative),
      MB: ({ byteLength }) => decimals(byteLength, 1e6, 2),
      LIGHTER: ({ renditions }) => renditions.map(sizeOf),
      CAPTIONS: (creative) => creative.captions.map(({ language }) => language),
      POSTER: ({ posterFileName }) => posterFileName !== null,
      ADDED: "createdAt",
      NAME: "name",
    },
  }),
  show: verb("showCreative", { description: "a video" }),
});

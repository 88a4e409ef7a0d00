import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import {
  type CaptionsFile,
  captionsOption,
  collect,
  confirmable,
  confirmedQuery,
  existingFile,
  telegramIdOption,
  wholeNumber,
} from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import { addVideoByAddress, uploadCaptions, uploadPoster, uploadVideo } from "./upload.ts";

export function creativeCommands(program: Command, context: CommandContext): void {
  const creatives = program.command("creatives").description("videos that campaigns show");
  addingCommands(creatives, context);
  changingCommands(creatives, context);
  listingCommands(creatives, context);
}

const printCreative = (context: CommandContext, creative: Row) => context.print(creative, () => recordOf(creative));

function addingCommands(creatives: Command, context: CommandContext): void {
  const show = (creative: Row) => printCreative(context, creative);

  withExamples(creatives.command("add").description("add a video: MP4 (H.264 + AAC) or WebM, 1 to 180 s"), [
    "creatives add spring.mp4",
    "creatives add --from https://files.example.com/spring.mp4",
    "creatives add spring.mp4 --captions en=spring.en.vtt --captions pt-BR=spring.pt.vtt",
  ])
    .argument("[file]", "a format that phones do not play is converted if the server has ffmpeg", existingFile)
    .option("--from <address>", "instead of a file: the server fetches it once and keeps it")
    .option("--captions <language=file>", "WebVTT; repeatable", collect(captionsOption))
    .option("--poster <file>", "JPEG, PNG or WebP, instead of a frame of the video", existingFile)
    .action(async (file: string | undefined, { from, captions = [], poster }: VideoOptions) => {
      if ((file === undefined) === (from === undefined)) creatives.error("Give a file, or its address with --from.");
      const added = await (from === undefined ? uploadVideo(context, String(file)) : addVideoByAddress(context, from));
      const creativeId = String(added.creativeId);
      const withPoster = poster === undefined ? added : await uploadPoster(context, creativeId, poster);
      show((await uploadCaptions(context, creativeId, captions)) ?? withPoster);
    });

  withExamples(
    confirmable(
      creatives.command("add-tag").description("add a VAST 2.0 to 4.2 tag, which is queried for an ad at each opening"),
    ),
    ["creatives add-tag 'https://ads.example.com/vast?site=1&cb=[CACHEBUSTING]'"],
  )
    .argument("<url>", "the tag's address; its macros are filled in")
    .action(async (url: string, options: { yes?: boolean }) => {
      const query = confirmedQuery(options);
      show(await callForRow(context, operatorRequest("addVastTag", { query, body: { url } })));
    });
}

function changingCommands(creatives: Command, context: CommandContext): void {
  const show = (creative: Row) => printCreative(context, creative);

  withExamples(creatives.command("poster").description("set another picture to show until a video plays"), [
    "creatives poster cre_0a1b2c3d4e5f60718293a4b5 spring.webp",
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("<file>", "JPEG, PNG or WebP, 1 MiB at most", existingFile)
    .action(async (creativeId: string, file: string) => show(await uploadPoster(context, creativeId, file)));

  withExamples(creatives.command("captions").description("add, replace or remove captions of a video"), [
    "creatives captions cre_0a1b2c3d4e5f60718293a4b5 en=spring.en.vtt ru=spring.ru.vtt",
    "creatives captions cre_0a1b2c3d4e5f60718293a4b5 --remove ru",
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("[language=file...]", "WebVTT, in at most 10 languages", collect(captionsOption))
    .option("--remove <language>", "repeatable", collect(String))
    .action(async (creativeId: string, captions: CaptionsFile[] = [], { remove = [] }: { remove?: string[] }) => {
      for (const language of remove) {
        await context.call(operatorRequest("removeCaptions", { params: { creativeId, language } }));
      }
      show(
        (await uploadCaptions(context, creativeId, captions)) ??
          (await callForRow(context, operatorRequest("showCreative", { params: { creativeId } }))),
      );
    });

  withExamples(creatives.command("rename").description("name a video for yourself; viewers never see it"), [
    'creatives rename cre_0a1b2c3d4e5f60718293a4b5 "Spring sale, 15 s"',
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("<name>", "at most 128 characters")
    .action(async (creativeId: string, name: string) => {
      show(await callForRow(context, operatorRequest("renameCreative", { params: { creativeId }, body: { name } })));
    });

  withExamples(creatives.command("legal-line").description("set the text that a law requires beside the ad"), [
    'creatives legal-line cre_0a1b2c3d4e5f60718293a4b5 "Shop Ltd, reg. no. 12345678"',
    "creatives legal-line cre_0a1b2c3d4e5f60718293a4b5 --remove",
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .argument("[text]", "at most 256 characters, such as a registration number")
    .option("--remove", "show none")
    .action(async (creativeId: string, text: string | undefined, { remove = false }: { remove?: boolean }) => {
      if ((text === undefined) !== remove) creatives.error("Give the text, or --remove.");
      const input = { params: { creativeId }, body: { legalLine: text ?? null } };
      show(await callForRow(context, operatorRequest("setLegalLine", input)));
    });
}

function listingCommands(creatives: Command, context: CommandContext): void {
  reviewCommands(creatives, context);

  withExamples(creatives.command("reports").description("what viewers object to, the most frequent first"), [
    "creatives reports",
    "creatives reports --creative-id cre_0a1b2c3d4e5f60718293a4b5",
    "creatives reports --bot-id 7000000001 --limit 10 --json",
  ])
    .option("--creative-id <id>", "of one creative only")
    .option("--bot-id <id>", "of the viewers of one bot only", telegramIdOption)
    .option("--after <cursor>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ limit, ...of }: ReportOptions) => {
      const query = { ...of, limit: String(limit) };
      const page = await callForRow(context, operatorRequest("listAdReports", { query }));
      const more = page.hasMore ? `\n\nThere are more: --after ${page.next}` : "";
      context.print(page, () => `${tableOf(rowsOf(page, "reports"), reportColumns)}${more}`);
    });

  withExamples(creatives.command("list").description("all videos, newest first"), ["creatives list"]).action(
    async () => {
      const { rows } = await callForAllRows(context, "creatives", (after) =>
        operatorRequest("listCreatives", { query: { after } }),
      );
      context.print(rows, () => tableOf(rows, columns));
    },
  );

  withExamples(creatives.command("show").description("a video"), ["creatives show cre_0a1b2c3d4e5f60718293a4b5"])
    .argument("<creative-id>", "as shown by creatives list")
    .action(async (creativeId: string) =>
      printCreative(context, await callForRow(context, operatorRequest("showCreative", { params: { creativeId } }))),
    );
}

function reviewCommands(creatives: Command, context: CommandContext): void {
  const show = (creative: Row) => context.print(creative, () => recordOf(creative));
  /** What the operator sees now; it is refused if it changes meanwhile. */
  const revisionOf = async (creativeId: string) =>
    (await callForRow(context, operatorRequest("showCreative", { params: { creativeId } }))).revision;

  withExamples(creatives.command("queue").description("what advertisers uploaded and nobody approved yet"), [
    "creatives queue",
  ]).action(async () => {
    const answer = await callForRow(context, operatorRequest("readReviewQueue"));
    context.print(answer, () => tableOf(rowsOf(answer, "creatives"), queueColumns));
  });

  withExamples(creatives.command("approve").description("let a video be shown"), [
    "creatives approve cre_0a1b2c3d4e5f60718293a4b5",
  ])
    .argument("<creative-id>", "as shown by creatives queue")
    .option("--revision <number>", "the one that you saw; default: the present one", wholeNumber)
    .action(async (creativeId: string, { revision }: { revision?: number }) => {
      const body = { revision: revision ?? (await revisionOf(creativeId)) };
      show(await callForRow(context, operatorRequest("approveCreative", { params: { creativeId }, body })));
    });

  withExamples(creatives.command("refuse").description("keep a video from being shown"), [
    'creatives refuse cre_0a1b2c3d4e5f60718293a4b5 --reason "The text is too small to read"',
  ])
    .argument("<creative-id>", "as shown by creatives queue")
    .requiredOption("--reason <text>", "for its advertiser")
    .option("--revision <number>", "the one that you saw; default: the present one", wholeNumber)
    .action(async (creativeId: string, { reason, revision }: { reason: string; revision?: number }) => {
      const body = { reason, revision: revision ?? (await revisionOf(creativeId)) };
      show(await callForRow(context, operatorRequest("refuseCreative", { params: { creativeId }, body })));
    });

  withExamples(creatives.command("reopen").description("take a decision back: the video waits for approval again"), [
    "creatives reopen cre_0a1b2c3d4e5f60718293a4b5",
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .action(async (creativeId: string) => {
      const body = { revision: await revisionOf(creativeId) };
      show(await callForRow(context, operatorRequest("reopenReview", { params: { creativeId }, body })));
    });

  withExamples(creatives.command("submit").description("submit an advertiser's draft for approval"), [
    "creatives submit cre_0a1b2c3d4e5f60718293a4b5",
  ])
    .argument("<creative-id>", "as shown by creatives list")
    .action(async (creativeId: string) =>
      show(await callForRow(context, operatorRequest("submitCreative", { params: { creativeId } }))),
    );
}

const queueColumns = {
  CREATIVE: (creative: Row) => creative.creativeId,
  NAME: (creative: Row) => creative.name,
  ADVERTISER: (creative: Row) => creative.advertiserId,
  "SUBMITTED AT": (creative: Row) => creative.submittedAt,
  REVISION: (creative: Row) => creative.revision,
  FILE: (creative: Row) => creative.fileName,
};

interface ReportOptions {
  creativeId?: string;
  botId?: string;
  after?: string;
  limit: number;
}

interface VideoOptions {
  from?: string;
  captions?: CaptionsFile[];
  poster?: string;
}

const columns = {
  CREATIVE: (creative: Row) => creative.creativeId,
  KIND: (creative: Row) => creative.mediaType ?? creative.kind,
  SECONDS: (creative: Row) => decimals(creative.durationMs, 1000, 1),
  PIXELS: (creative: Row) => creative.width && sizeOf(creative),
  MB: (creative: Row) => decimals(creative.byteLength, 1e6, 2),
  LIGHTER: (creative: Row) => Array.isArray(creative.renditions) && creative.renditions.map(sizeOf).join(", "),
  CAPTIONS: (creative: Row) =>
    Array.isArray(creative.captions) && creative.captions.map(({ language }: Row) => language).join(", "),
  POSTER: (creative: Row) => creative.posterFileName !== null,
  ADDED: (creative: Row) => creative.createdAt,
  NAME: (creative: Row) => creative.name,
};

const reportColumns = {
  CREATIVE: (report: Row) => report.creativeId,
  REASON: (report: Row) => report.reason,
  REPORTS: (report: Row) => report.reports,
  USERS: (report: Row) => report.users,
  LATEST: (report: Row) => report.latestAt,
};

function decimals(value: unknown, unit: number, digits: number): string | undefined {
  return typeof value === "number" ? (value / unit).toFixed(digits) : undefined;
}

function sizeOf({ width, height }: Row): string {
  return `${width}×${height}`;
}

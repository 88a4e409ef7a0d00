import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { type Row, recordOf, rowsOf, tableOf } from "../show.ts";
import { type CommandContext, callForRow, withExamples } from "./command-context.ts";
import { existingFile, wholeNumber } from "./parse-option.ts";

export function campaignCommands(program: Command, context: CommandContext): void {
  const campaigns = program.command("campaigns").description("what is shown: videos and landing pages");

  withExamples(withSettings(campaigns.command("add").description("add a campaign; it runs at once")), [
    'campaigns add --name "Spring sale" --advertiser "Acme" --format rewarded --video spring.mp4',
    'campaigns add --name "Acme shop" --advertiser "Acme" --format direct_link --landing-url "https://example.com/?c={click_id}"',
  ])
    .addOption(
      new Option("--format <format>", "a video that is watched, or a page that is visited")
        .choices(["rewarded", "direct_link"])
        .makeOptionMandatory(),
    )
    .option("--video <file>", "MP4 (H.264 + AAC) or WebM, uploaded and checked", existingFile)
    .action(async ({ video, ...options }: Row & { video?: string }) => {
      const creativeId = video === undefined ? undefined : await uploadVideo(context, video);
      const body = { ...options, creativeId };
      const added = await callForRow(context, { method: "POST", path: "/campaigns", body });
      context.print(added, () => recordOf(added));
    });

  withExamples(campaigns.command("list").description("all campaigns"), ["campaigns list"]).action(async () => {
    const rows = rowsOf(await context.call({ method: "GET", path: "/campaigns" }), "campaigns");
    context.print(rows, () => tableOf(rows, columns));
  });

  forOneCampaign(campaigns, "show", "a campaign").action(async (campaignId: string) => {
    const campaign = await callForRow(context, { method: "GET", path: pathOf(campaignId) });
    context.print(campaign, () => recordOf(campaign));
  });

  withSettings(forOneCampaign(campaigns, "update", "change settings of a campaign; the others stay")).action(
    async (campaignId: string, options: Row) => {
      const body = options;
      const campaign = await callForRow(context, { method: "PATCH", path: pathOf(campaignId), body });
      context.print(campaign, () => recordOf(campaign));
    },
  );

  for (const [verb, description] of Object.entries({ pause: "show it to nobody new", resume: "undo pause" })) {
    forOneCampaign(campaigns, verb, description).action(async (campaignId: string) => {
      const campaign = await callForRow(context, { method: "POST", path: `${pathOf(campaignId)}/${verb}` });
      context.print(campaign, () => recordOf(campaign));
    });
  }
}

function forOneCampaign(campaigns: Command, verb: string, description: string): Command {
  const command = campaigns.command(verb).description(description);
  withExamples(command, [`campaigns ${verb} cmp_8fJ2kLm4Qr9T${verb === "update" ? " --weight 5" : ""}`]);
  return command.argument("<campaign-id>", "as shown by campaigns list");
}

function withSettings(command: Command): Command {
  return command
    .option("--name <name>", "for the operator; for a new campaign it must be given")
    .option("--advertiser <name>", "who pays, shown to viewers; for a new campaign it must be given")
    .option("--landing-url <url>", "where the link, or the button beside the video, leads")
    .option("--call-to-action <label>", "of the button beside the video")
    .option("--weight <number>", "how often it is chosen, compared with others", wholeNumber)
    .option("--price-micros <number>", "of a completed view or a click, in millionths of the currency", wholeNumber);
}

async function uploadVideo(context: CommandContext, file: string): Promise<unknown> {
  const query = { name: basename(file) };
  const creative = await callForRow(context, {
    method: "POST",
    path: "/creatives",
    query,
    body: createReadStream(file),
  });
  return creative.creativeId;
}

function pathOf(campaignId: string): string {
  return `/campaigns/${encodeURIComponent(campaignId)}`;
}

const columns = {
  CAMPAIGN: (campaign: Row) => campaign.campaignId,
  NAME: (campaign: Row) => campaign.name,
  ADVERTISER: (campaign: Row) => campaign.advertiser,
  FORMAT: (campaign: Row) => campaign.format,
  STATE: (campaign: Row) => (campaign.isActive ? "running" : "paused"),
  WEIGHT: (campaign: Row) => campaign.weight,
};

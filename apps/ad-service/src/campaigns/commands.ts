import { withExamples } from "@intermission/server/command-line";
import { collect, existingFile, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import { uploadVideo } from "../creatives/upload.ts";
import { amountOf, namesTarget, settingsOf, withSettings } from "./campaign-options.ts";

const verbs = {
  pause: "stop showing it to new viewers",
  resume: "undo pause",
  archive: "end it for good; its statistics stay",
};

export function campaignCommands(program: Command, context: CommandContext): void {
  const campaigns = program.command("campaigns").description("ads to show: videos and landing pages");
  const show = (campaign: Row) => context.print(campaign, () => recordOf(readable(campaign)));

  withExamples(withSettings(campaigns.command("add").description("add a campaign; it runs immediately")), [
    'campaigns add --name "Spring sale" --advertiser "Acme" --format rewarded --video spring.mp4 --view-price 0.002',
    'campaigns add --name "Acme shop" --advertiser "Acme" --format direct_link --landing-url "https://example.com/?c={click_id}"',
  ])
    .addOption(
      new Option("--format <format...>", "rewarded is a video, direct_link a landing page; both are possible")
        .choices(["rewarded", "direct_link"])
        .makeOptionMandatory(),
    )
    .option("--video <file>", "MP4 (H.264 + AAC) or WebM, uploaded and checked; repeatable", collect(existingFile))
    .option("--creative <id>", "a video that was added before; repeatable", collect(String))
    .action(
      async ({ video = [], creative = [], format, ...options }: Row & { video?: string[]; creative?: string[] }) => {
        const creativeIds: unknown[] = [...creative];
        for (const file of video) creativeIds.push((await uploadVideo(context, file)).creativeId);
        const body = { ...settingsOf(options), formats: format, creativeIds };
        show(await callForRow(context, { method: "POST", path: "/campaigns", body }));
      },
    );

  withExamples(campaigns.command("list").description("all campaigns"), ["campaigns list", "campaigns list --archived"])
    .option("--archived", "include archived campaigns")
    .action(async ({ archived }: { archived?: boolean }) => {
      const query = { archived: String(archived === true) };
      const rows = rowsOf(await context.call({ method: "GET", path: "/campaigns", query }), "campaigns");
      context.print(rows, () => tableOf(rows, columns));
    });

  forOneCampaign(campaigns, "show", "show a campaign").action(async (campaignId: string) =>
    show(await callForRow(context, { method: "GET", path: pathOf(campaignId) })),
  );

  withSettings(forOneCampaign(campaigns, "update", "change settings of a campaign; the others stay")).action(
    async (campaignId: string, options: Row) => {
      const before = namesTarget(options) ? await callForRow(context, { method: "GET", path: pathOf(campaignId) }) : {};
      const body = settingsOf(options, before.targeting as Row | undefined);
      show(await callForRow(context, { method: "PATCH", path: pathOf(campaignId), body }));
    },
  );

  videosOfCampaign(campaigns, context, show);

  for (const [verb, description] of Object.entries(verbs)) {
    forOneCampaign(campaigns, verb, description).action(async (campaignId: string) =>
      show(await callForRow(context, { method: "POST", path: `${pathOf(campaignId)}/${verb}` })),
    );
  }
}

/** The videos of a campaign. */
function videosOfCampaign(campaigns: Command, context: CommandContext, show: (campaign: Row) => void): void {
  const forOneVideo = (verb: string, description: string) =>
    withExamples(campaigns.command(verb).description(description), [
      `campaigns ${verb} cmp_8fJ2kLm4Qr9T cre_0a1b2c3d4e5f60718293a4b5${verb === "attach" ? " --weight 3" : ""}`,
    ])
      .argument("<campaign-id>", "as shown by campaigns list")
      .argument("<creative-id>", "as shown by creatives list");
  const pathTo = (campaignId: string, creativeId: string, verb: string) =>
    `${pathOf(campaignId)}/creatives/${encodeURIComponent(creativeId)}/${verb}`;

  forOneVideo("attach", "show a video in a campaign, or change how it is shown")
    .option("--weight <number>", "how often it is shown, relative to the campaign's other videos", wholeNumber)
    .option("--label <text>", "shown instead of the advertiser's name; none clears it")
    .option("--call-to-action <label>", "shown instead of the campaign's; none clears it")
    .action(async (campaignId: string, creativeId: string, options: Row) => {
      const body = Object.fromEntries(
        Object.entries(options).map(([name, value]) => [name, value === "none" ? null : value]),
      );
      show(await callForRow(context, { method: "POST", path: pathTo(campaignId, creativeId, "attach"), body }));
    });
  forOneVideo("detach", "stop showing a video of a campaign to new viewers").action(
    async (campaignId: string, creativeId: string) =>
      show(await callForRow(context, { method: "POST", path: pathTo(campaignId, creativeId, "detach") })),
  );
}

function forOneCampaign(campaigns: Command, verb: string, description: string): Command {
  const command = campaigns.command(verb).description(description);
  withExamples(command, [
    `campaigns ${verb} cmp_8fJ2kLm4Qr9T${verb === "update" ? " --weight 5 --user-cap 3/24h" : ""}`,
  ]);
  return command.argument("<campaign-id>", "as shown by campaigns list");
}

function pathOf(campaignId: string): string {
  return `/campaigns/${encodeURIComponent(campaignId)}`;
}

/** The campaign as people read it: only what is set, with money as amounts. */
function readable(campaign: Row): Row {
  const given = Object.entries(campaign).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => (name.endsWith("Micros") ? [name.slice(0, -6), amountOf(value)] : [name, value])),
  );
}

const columns = {
  CAMPAIGN: (campaign: Row) => campaign.campaignId,
  NAME: (campaign: Row) => campaign.name,
  ADVERTISER: (campaign: Row) => campaign.advertiser,
  FORMATS: (campaign: Row) => campaign.formats,
  STATUS: (campaign: Row) => campaign.status,
  PRIORITY: (campaign: Row) => campaign.priority,
  WEIGHT: (campaign: Row) => campaign.weight,
};

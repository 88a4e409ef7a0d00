import { versionForCommand } from "@intermission/server/build-identity";
import { type CommandContext, exitCodesHelp } from "@intermission/server/command-line";
import { completionCommand } from "@intermission/server/completion-command";
import { logIdCommand } from "@intermission/server/log-id-command";
import type { OperatorCall, OperatorClient } from "@intermission/server/operator-client";
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { explainCommand } from "./ad-selection/commands.ts";
import { advertiserCommands } from "./advertisers/commands.ts";
import { auditCommands } from "./audit/commands.ts";
import { type BackupContext, backupCommands } from "./backups/commands.ts";
import { billingLogCommands } from "./billing-log/commands.ts";
import { botCommands } from "./bots/commands.ts";
import { tokenCommands } from "./bots/token-commands.ts";
import { campaignCommands } from "./campaigns/commands.ts";
import { currencyCommands } from "./campaigns/currency-commands.ts";
import { conversionCommands } from "./conversions/commands.ts";
import { creativeCommands } from "./creatives/commands.ts";
import { deliveryCommands } from "./deliveries/commands.ts";
import { endpointCommands } from "./deliveries/endpoint-commands.ts";
import { buyerCommands } from "./demand/commands.ts";
import { eventCommands } from "./events/commands.ts";
import { moneyCommands } from "./money/commands.ts";
import { noticeCommands } from "./notices/commands.ts";
import { ordCommands } from "./ord/commands.ts";
import { peopleCommands } from "./people/commands.ts";
import { clickCommands } from "./reviews/click-commands.ts";
import { viewCommands } from "./reviews/view-commands.ts";
import { sampleCommands } from "./sample/commands.ts";
import { savedReportCommands } from "./saved-reports/commands.ts";
import { statsCommands } from "./statistics/commands.ts";
import { statusCommand, systemCommand } from "./status/commands.ts";
import { taskBotCommands, taskChannelCommands, taskCommands } from "./tasks/commands.ts";
import { codeCommands, userCommands } from "./users/commands.ts";

const commands = [
  botCommands,
  tokenCommands,
  campaignCommands,
  currencyCommands,
  creativeCommands,
  buyerCommands,
  explainCommand,
  eventCommands,
  deliveryCommands,
  endpointCommands,
  noticeCommands,
  advertiserCommands,
  moneyCommands,
  billingLogCommands,
  ordCommands,
  viewCommands,
  clickCommands,
  conversionCommands,
  taskBotCommands,
  taskChannelCommands,
  taskCommands,
  statsCommands,
  savedReportCommands,
  userCommands,
  codeCommands,
  peopleCommands,
  auditCommands,
  sampleCommands,
  statusCommand,
  systemCommand,
];

/** The program `ads` with its options, without its commands. */
export function createAdsProgram(): Command {
  return new Command("ads")
    .description("The operator's command line of the ad service.")
    .version(versionForCommand(manifest.version))
    .option("--url <url>", "address of a running ad service (default: ADS_URL)")
    .addHelpText(
      "after",
      `
It connects to the server that runs on DATA_DIR (./data), or to the one that --url or ADS_URL names, with OPERATOR_TOKEN.
If no server runs, it opens the store itself, with ENCRYPTION_KEY.

${exitCodesHelp}`,
    );
}

/** Adds all commands. `context` connects to a server or a store, or reads this machine's settings, when a command runs. */
export function addAdsCommands(
  program: Command,
  { client, print, copy, isJson, config }: CommandContext<OperatorClient> & BackupContext,
): void {
  const context = {
    call: async (call: OperatorCall) => (await client()).call(call),
    read: async (call: OperatorCall) => (await client()).read(call),
    print,
    copy,
    isJson,
  };
  for (const addCommands of commands) addCommands(program, context);
  backupCommands(program, { print, isJson, config });
  completionCommand(program);
  logIdCommand(program, { print, secrets: () => config().logIdSecrets });
}

/**
 * `npm start`: runs everything on this machine, on the embedded database, with one address to open. A server that exits
 * unexpectedly is restarted.
 * `pnpm dev` (`--watch`): the same, and servers restart and the mini-app is rebuilt when their sources change.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildWhereWritable } from "./build-miniapp.ts";
import { demoPorts } from "./demo-ports.ts";
import { type DemoStack, startDemoStack } from "./demo-stack.ts";
import { assertPortFree, root, stopAllServers } from "./processes.ts";
import { restartServers } from "./restart-servers.ts";
import { explain, Problem, step } from "./say.ts";
import { mistypedVariables, readStartOptions, startHelp } from "./start-options.ts";
import "./stop-with-parent.ts";

let isStopping = false;
let rebuilding: ChildProcess[] = [];
let stopRestarting = () => {};

async function stop(exitCode: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  stopRestarting();
  for (const build of rebuilding) build.kill("SIGTERM");
  await step("stopped", stopAllServers);
  process.exit(exitCode);
}

async function main(): Promise<void> {
  const { isHelp, isWatched, ownBot } = readStartOptions(process.argv.slice(2), process.env);
  if (isHelp) return console.log(startHelp);
  for (const sentence of mistypedVariables(process.env)) console.error(sentence);
  const ports = demoPorts();
  const dataDirectory = resolve(process.env.DATA_DIR ?? join(root, "data"));
  const video = join(root, "apps/ad-service/sample/house-ad.mp4");
  if (!existsSync(video)) throw new Problem(`${video} is missing.`, "Restore it: git checkout apps/ad-service/sample");
  await assertPortFree(ports.demoBot, "demo chat", "DEMO_BOT_PORT");
  await assertPortFree(ports.adService, "ad service", "AD_SERVICE_PORT");
  await assertPortFree(ports.api, "companion API", "API_PORT");

  await step("mini-app and console", () => buildWhereWritable());
  const onLine = (server: string, line: string) => {
    if (isWatched || /"level":(50|60)/.test(line)) console.error(`[${server}] ${line}`);
  };
  const stack = await startDemoStack({
    dataDirectory,
    ports,
    video,
    poster: join(root, "apps/ad-service/sample/house-ad.webp"),
    hasChat: true,
    cooldownSeconds: 15,
    dailyCap: 50,
    isRewardNamed: true,
    ownBot,
    isWatched,
    onLine,
  });
  // Before "Intermission runs": whoever reads that may kill a server, and the link needs the ad service.
  const signInLink = await stack.signInLink();
  stopRestarting = restartServers(stack, (problem) => {
    console.error(`\n✗ ${problem.message}\n  ${problem.nextStep}`);
    stop(1).catch(explain);
  });
  if (isWatched)
    rebuilding = ["apps/miniapp", "apps/console"].map((app) =>
      spawn("vite", ["build", "--watch"], { cwd: join(root, app), stdio: "inherit" }),
    );
  const whose = ownBot === undefined ? "the demo chat" : `the simulated chat of your bot ${ownBot.botId}`;
  console.log(`\nIntermission runs. Open ${whose}:\n\n  ${stack.urls.demoBot}\n`);
  console.log(`The console, signed in as its owner (the link works once, within an hour):\n\n  ${signInLink}\n`);
  console.log(describeServers(stack.urls, stack.secrets.backendApiKey));
  if (ownBot !== undefined && stack.ownBot !== undefined)
    describeOwnBot(stack.ownBot, join(dataDirectory, `bot-${ownBot.botId}.env`));
  console.log(`\nCtrl-C stops it; the data stays in ${dataDirectory}.`);
  await addSample(stack);
}

/** In the background of the running demo. What fails here is tried again by the next start. */
async function addSample(stack: DemoStack): Promise<void> {
  const isAdded = await stack.addSample().catch((error: unknown) => {
    if (!isStopping)
      console.error(`\nThe console has no sample traffic yet: ${error instanceof Error ? error.message : error}`);
    return false;
  });
  if (isAdded)
    console.log(
      "\nThe console shows two weeks of sample traffic, marked as such. To remove it: ./pnpm ads sample remove",
    );
}

function describeServers({ adService, api }: DemoStack["urls"], backendApiKey: string): string {
  return [
    `The ad service listens on ${adService}; its API: ${adService}/docs`,
    `The companion API listens on ${api}; its API: ${api}/docs; its key: ${backendApiKey}`,
  ].join("\n");
}

/** Writes what the bot's program needs to a file for shells, and shows how to read it. */
function describeOwnBot({ webhookUrl, environment }: NonNullable<DemoStack["ownBot"]>, file: string): void {
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  console.log(`Its webhooks go to ${webhookUrl}, which is tested every 2 s until it answers.`);
  console.log(`\nYour bot's program needs ${Object.keys(environment).join(", ")}. In its terminal:\n\n  . ${file}`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0).catch(explain));
main().catch((error) => (isStopping ? undefined : explain(error)));

/**
 * `npm start`: runs everything on this machine, on the embedded database, with one address to open. A server that exits
 * unexpectedly is restarted. The chat is shown as soon as it can be used; the console is built then.
 * `pnpm dev` (`--watch`): the same, and servers restart and the mini-app is rebuilt when their sources change.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startAdsCommands } from "./ads-commands.ts";
import { announceBuild } from "./build-miniapp.ts";
import { demoPorts } from "./demo-ports.ts";
import { type DemoStack, demoPictures, startDemoStack } from "./demo-stack.ts";
import { makeBot, nextSteps } from "./make-bot.ts";
import { packPublisher } from "./pack-publisher.ts";
import { passedSettings } from "./passed-settings.ts";
import { assertPortFree, root, stopAllServers } from "./processes.ts";
import { restartServers } from "./restart-servers.ts";
import { explain, Problem, step } from "./say.ts";
import { mistypedVariables, readStartOptions, type StartOptions, startHelp } from "./start-options.ts";
import "./stop-with-parent.ts";

/** One person uses these servers, beside other programs: half of their memory, and of their database's. Own settings win. */
const small = { NODE_OPTIONS: "--max-semi-space-size=2" };
const smallStore = { ...small, DATABASE_POOL_SIZE: "5", EMBEDDED_BUFFERS_MB: "32" };

let isStopping = false;
let rebuilding: ChildProcess[] = [];
let stopRestarting = () => {};
let stopCommandHost = async () => {};

async function stop(exitCode: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  stopRestarting();
  for (const build of rebuilding) build.kill("SIGTERM");
  await step("stopped", async () => {
    await stopCommandHost();
    await stopAllServers();
  });
  process.exit(exitCode);
}

async function main(): Promise<void> {
  const { isHelp, isWatched, ownBot, made } = readStartOptions(process.argv.slice(2), process.env);
  if (isHelp) return console.log(startHelp);
  for (const sentence of mistypedVariables(process.env)) console.error(sentence);
  const { env, ignored } = passedSettings(process.env);
  if (ignored.length > 0) console.error(`npm start sets these itself, and ignores yours: ${ignored.join(", ")}`);
  const ports = demoPorts();
  const dataDirectory = resolve(process.env.DATA_DIR ?? join(root, "data"));
  if (made !== undefined && !(await makeAndExplain(made, { ownBot, dataDirectory }))) return;
  const video = join(root, "apps/ad-service/sample/house-ad.mp4");
  if (!existsSync(video)) throw new Problem(`${video} is missing.`, "Restore it: git checkout apps/ad-service/sample");
  await assertPortFree(ports.demoBot, "demo chat", "DEMO_BOT_PORT");
  await assertPortFree(ports.adService, "ad service", "AD_SERVICE_PORT");
  await assertPortFree(ports.api, "companion API", "API_PORT");

  // Before the ad service starts, which would serve older builds.
  const [buildMiniapp, buildConsole] = [announceBuild("miniapp"), announceBuild("console")];
  const miniapp = buildMiniapp();
  // A bot's program, outside of the clone, is installed with it.
  const packed = ownBot && packPublisher(dataDirectory);
  for (const background of [miniapp, packed]) background?.catch(() => {});
  const commands = startAdsCommands();
  stopCommandHost = commands.stop;
  const onLine = (server: string, line: string) => {
    if (isWatched || /"level":(50|60)/.test(line)) console.error(`[${server}] ${line}`);
  };
  const stack = await startDemoStack({
    dataDirectory,
    ports,
    video,
    poster: join(root, "apps/ad-service/sample/house-ad.webp"),
    hasChat: true,
    // Not for a bot of one's own: its program may pay for every webhook.
    hasTasks: ownBot === undefined,
    cooldownSeconds: 15,
    dailyCap: 50,
    isRewardNamed: true,
    pictures: demoPictures,
    ownBot,
    isWatched,
    onLine,
    env: {
      "ad-service": { ...smallStore, ...env["ad-service"] },
      api: { ...smallStore, ...env.api },
      "demo-bot": small,
    },
    runAds: commands.run,
  });
  await step("mini-app", () => miniapp);
  if (packed !== undefined) await step("package for programs of bots", () => packed);
  // Before "Intermission runs": whoever reads that may kill a server, and the link needs the ad service.
  const signInLink = await stack.signInLink();
  stopRestarting = restartServers(stack, (problem) => {
    console.error(`\n✗ ${problem.message}\n  ${problem.nextStep}`);
    stop(1).catch(explain);
  });
  const whose = ownBot === undefined ? "the demo chat" : `the simulated chat of your bot ${ownBot.botId}`;
  console.log(`\nIntermission runs. Open ${whose}:\n\n  ${stack.urls.demoBot}\n`);
  console.log(
    `The console, signed in as its owner (the link works once, within an hour; the page is built meanwhile):\n\n  ${signInLink}\n`,
  );
  console.log(describeServers(stack.urls, stack.secrets.backendApiKey));
  if (ownBot !== undefined && stack.ownBot !== undefined)
    describeOwnBot(stack.ownBot, join(dataDirectory, `bot-${ownBot.botId}.env`));
  console.log(`\nCtrl-C stops it; the data stays in ${dataDirectory}.`);
  await showConsole(buildConsole);
  if (isWatched)
    rebuilding = ["apps/miniapp", "apps/console"].map((app) =>
      spawn("node_modules/.bin/vite", ["build", "--watch"], { cwd: join(root, app), stdio: "inherit" }),
    );
  await addSample(stack);
  await commands.stop();
  if (ownBot === undefined) await packPublisher(dataDirectory).catch(sayNotPacked);
}

/** The chat goes on without it. */
async function showConsole(build: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await build();
    console.log(`\n✓ The console is there (${((performance.now() - startedAt) / 1000).toFixed(1)} s).`);
  } catch (error) {
    if (isStopping) return;
    const { message, nextStep } = error instanceof Problem ? error : { message: String(error), nextStep: "" };
    console.error(`\n✗ There is no console, since its build failed; the chat goes on.\n  ${message}\n  ${nextStep}`);
  }
}

function sayNotPacked(error: unknown): void {
  if (!isStopping) console.error(`\nThe package for programs of bots was not packed: ${String(error)}`);
}

/** Returns whether the servers start, too: with `--bot`. */
async function makeAndExplain(
  { kind, folder }: NonNullable<StartOptions["made"]>,
  { ownBot, dataDirectory }: { ownBot: StartOptions["ownBot"]; dataDirectory: string },
): Promise<boolean> {
  const place = resolve(folder);
  const bot = await step(`${kind} in ${place}`, () => makeBot(kind, place, () => packPublisher(dataDirectory)));
  console.log(
    nextSteps(place, bot, { botId: ownBot?.botId ?? "123456789", dataDirectory, isStarting: ownBot !== undefined }),
  );
  return ownBot !== undefined;
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

/**
 * `node bench/miniapp.ts`: measures the mini-app on a cheap phone with a slow network, compared with a plain page with the
 * same video (the floor) and with its budgets. The video is that of the repository's house ad. Prints medians, and the
 * machine's load: figures of a busy machine are useless.
 *
 *   node bench/miniapp.ts [--rounds 7] [--without-lighthouse] [--only-playing]
 *   node bench/miniapp.ts --in-app [--rounds 7]     the script and the frame in a publisher's own mini-app
 */
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium } from "@playwright/test";
import { companionApi } from "../e2e/kill/companion-api.ts";
import { launchUrl } from "../e2e/open-miniapp.ts";
import { initDataOf, ScriptedViewer } from "../e2e/scripted-viewer.ts";
import { buildPages } from "../scripts/build-miniapp.ts";
import { findBrowser } from "../scripts/find-browser.ts";
import { root } from "../scripts/processes.ts";
import { explain, Problem } from "../scripts/say.ts";
import { type BenchStack, benchStack } from "./bench-stack.ts";
import { fileSizes } from "./miniapp/file-sizes.ts";
import {
  asInWebView,
  firstFrameInGame,
  loadedBeforeShow,
  measurePlayingInGame,
  startGamePage,
} from "./miniapp/in-app.ts";
import { conditions, measurePage, seeFirstFrame, watchToTheReward } from "./miniapp/measure-page.ts";
import { measurePlaying, type PlayingCost } from "./miniapp/measure-playing.ts";
import type { PageVitals } from "./miniapp/page-vitals.ts";
import { startPlainPage } from "./miniapp/plain-page.ts";
import { runLighthouse } from "./miniapp/run-lighthouse.ts";
import { operate } from "./operate.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    "without-lighthouse": { type: "boolean", default: false },
    "only-playing": { type: "boolean", default: false },
    "in-app": { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Problem("--rounds needs a whole number of at least 1.", "For instance --rounds 7");

/** The first frame may take this much longer than that of the plain page. */
const MAX_OF_FLOOR = 1.25;

const lines: [name: keyof PageVitals, label: string, budget?: number][] = [
  ["firstPaint", "shell: first paint, ms"],
  ["offer", "offer can be tapped, ms"],
  ["firstFrame", "first video frame, ms"],
  ["lcp", "LCP, ms", 1000],
  ["cls", "CLS", 0],
  ["inp", "INP, ms", 80],
  ["tapToPlaying", "start tap to playing, ms"],
  ["closeToCredited", "close tap to credited, ms", 500],
];

const LIGHTHOUSE_BUDGET = 98;

/** In the page's order. */
const inlineScripts = [
  { name: "if the app does not start", budget: 5120 },
  { name: "the early start", budget: 2048 },
];

function medianOf(rounds: readonly PageVitals[], name: keyof PageVitals): number {
  const sorted = rounds.map((vitals) => vitals[name]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function printSizes(): void {
  const { files, inlineBytes } = fileSizes(join(root, "apps/miniapp/dist"));
  console.log("| file                                     | gzip kB | brotli kB |");
  console.log("|------------------------------------------|--------:|----------:|");
  for (const { name, gzip, brotli } of files) {
    const figures = `${(gzip / 1000).toFixed(1).padStart(7)} | ${(brotli / 1000).toFixed(1).padStart(9)}`;
    console.log(`| ${name.padEnd(40)} | ${figures} |`);
  }
  for (const [index, bytes] of inlineBytes.entries()) {
    const { name, budget = 0 } = inlineScripts[index] ?? {};
    console.log(`inline, ${name}: ${bytes} bytes${bytes > budget ? `, MISSES its ${budget}` : ` of ${budget}`}`);
  }
}

function printVitals(ours: readonly PageVitals[], floor: readonly PageVitals[]): void {
  const show = (value: number) =>
    (Number.isNaN(value) ? "" : value.toFixed(value < 1 && value > 0 ? 3 : 0)).padStart(7);
  console.log("| median                    | mini-app |   floor | budget |");
  console.log("|---------------------------|---------:|--------:|-------:|");
  const ofFloor = Math.round(medianOf(floor, "firstFrame") * MAX_OF_FLOOR);
  for (const [name, label, fixed] of lines) {
    const value = medianOf(ours, name);
    const budget = name === "firstFrame" ? ofFloor : fixed;
    const verdict = budget !== undefined && value > budget ? " MISSED" : "";
    const figures = `${show(value).padStart(8)} | ${show(medianOf(floor, name))} | ${String(budget ?? "").padStart(6)}`;
    console.log(`| ${label.padEnd(25)} | ${figures} |${verdict}`);
  }
}

async function measureRounds(stack: BenchStack, browser: Browser): Promise<void> {
  const { secrets, urls } = stack;
  const api = companionApi(urls.api, secrets.backendApiKey);
  const adOf = await new ScriptedViewer(urls.adService).open(secrets.botId, initDataOf("5000", secrets));
  if (adOf.body.outcome !== "session") throw new Error(`no ad to measure: ${JSON.stringify(adOf.body)}`);
  const plain = await startPlainPage(adOf.body.ad.media_url);
  const ours: PageVitals[] = [];
  const floor: PageVitals[] = [];
  for (let round = 0; round < rounds; round++) {
    const userId = String(6000 + round);
    const created = await api.createCode(userId);
    if (created.outcome !== "created") throw new Error(`no code: ${created.reason}`);
    floor.push(await measurePage(browser, plain.url, seeFirstFrame));
    ours.push(await measurePage(browser, launchUrl(created.miniappUrl, userId, secrets), watchToTheReward));
  }
  plain.stop();
  printVitals(ours, floor);
}

/** The main thread's budget while an ad plays: the rest is for the video, the client and the phone's battery. */
const MAX_MAIN_THREAD = 0.05;

const phones = {
  "a phone that Telegram calls average": "AVERAGE",
  "a phone that Telegram calls low": "LOW",
};

async function printPlaying({ secrets, urls }: BenchStack, browser: Browser): Promise<void> {
  const api = companionApi(urls.api, secrets.backendApiKey);
  console.log(`\nWhile the ad plays (budget: ${MAX_MAIN_THREAD * 100} % of the main thread):`);
  let users = 8000;
  for (const [phone, performanceClass] of Object.entries(phones)) {
    const userAgent = `Mozilla/5.0 (Linux; Android 13) Telegram-Android/11.4.2 (Google Pixel; Android 13; SDK 33; ${performanceClass})`;
    const costs: PlayingCost[] = [];
    for (let round = 0; round < rounds; round++) {
      const userId = String(++users);
      const created = await api.createCode(userId);
      if (created.outcome !== "created") throw new Error(`no code: ${created.reason}`);
      costs.push(await measurePlaying(browser, launchUrl(created.miniappUrl, userId, secrets), { userAgent }));
    }
    const median = (of: (cost: PlayingCost) => number) => costs.map(of).sort((a, b) => a - b)[costs.length >> 1] ?? 0;
    const mainThread = median((cost) => cost.mainThread);
    const figures = `${(mainThread * 100).toFixed(1)} % main thread, ${median((cost) => cost.paintsPerSecond).toFixed(0)} paints/s`;
    console.log(`  ${phone.padEnd(36)} ${figures}${mainThread > MAX_MAIN_THREAD ? " MISSED" : ""}`);
  }
}

/** The first frame in a publisher's own mini-app may take this much longer than that of the plain page. */
const MAX_OF_FLOOR_IN_APP = 1.35;
/** What the script loads before `show`, without `preload`. */
const MAX_BYTES_BEFORE_SHOW = 12_000;

async function printInApp(stack: BenchStack, browser: Browser): Promise<void> {
  const { secrets, urls } = stack;
  const adOf = await new ScriptedViewer(urls.adService).open(secrets.botId, initDataOf("5000", secrets));
  if (adOf.body.outcome !== "session") throw new Error(`no ad to measure: ${JSON.stringify(adOf.body)}`);
  const plain = await startPlainPage(adOf.body.ad.media_url);
  const game = await startGamePage(stack);
  await operate(stack, "PATCH", `/bots/${secrets.botId}`, { appOrigins: [game.origin] });
  const [floor, ours, fromShow, costs]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    floor.push((await measurePage(browser, plain.url, seeFirstFrame)).firstFrame);
    const first = await firstFrameInGame(browser, game.address(String(6000 + round), { shows: true }));
    ours.push(first.fromRequest);
    fromShow.push(first.fromShow);
    costs.push((await measurePlayingInGame(browser, game.address(String(7000 + round), { shows: true }))).mainThread);
  }
  const loaded = await loadedBeforeShow(browser, game.address("5001"), urls.adService);
  plain.stop();
  game.stop();
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  const line = (text: string, isMissed: boolean) => console.log(`  ${text}${isMissed ? " MISSED" : ""}`);
  const ratio = median(ours) / median(floor);
  console.log("In a publisher's own mini-app:");
  line(
    `first frame: ${median(ours).toFixed(0)} ms, of a plain page ${median(floor).toFixed(0)} ms: ${ratio.toFixed(2)} of ${MAX_OF_FLOOR_IN_APP}`,
    ratio > MAX_OF_FLOOR_IN_APP,
  );
  line(`of that, since show() was called: ${median(fromShow).toFixed(0)} ms`, false);
  const mainThread = median(costs);
  line(`main thread while playing: ${(mainThread * 100).toFixed(1)} %`, mainThread > MAX_MAIN_THREAD);
  const { beforeInit, beforeShow, unexpected } = loaded;
  line(
    `before init: the script alone, ${beforeInit} bytes${unexpected.length > 0 ? `; also ${unexpected.join(", ")}` : ""}`,
    unexpected.length > 0,
  );
  line(`before show, with availability(): ${beforeShow} bytes`, beforeShow > MAX_BYTES_BEFORE_SHOW);
}

async function printLighthouse(stack: BenchStack, browserPath: string): Promise<void> {
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, "7000", stack.secrets);
  console.log(`\nLighthouse, mobile (budget ${LIGHTHOUSE_BUDGET} each):`);
  for (const { category, score, misses } of await runLighthouse(url, browserPath)) {
    const wanting = misses.length > 0 ? ` (${misses.join("; ")})` : "";
    console.log(`  ${category.padEnd(16)} ${score}${score < LIGHTHOUSE_BUDGET ? " MISSED" : ""}${wanting}`);
  }
}

async function main(): Promise<void> {
  await buildPages();
  const browserPath = await findBrowser();
  if (!values["in-app"]) printSizes();
  const { kilobitsPerSecond, latencyMs, cpuSlowdown } = conditions;
  const stack = await benchStack({ name: "embedded" }, { video: join(root, "apps/ad-service/sample/house-ad.mp4") });
  const isInApp = values["in-app"];
  const args = ["--no-sandbox", "--mute-audio", ...(isInApp ? asInWebView : [])];
  const browser = await chromium.launch({ executablePath: browserPath, args });
  try {
    console.log(`${rounds} rounds at ${kilobitsPerSecond} kbit/s, ${latencyMs} ms, CPU ${cpuSlowdown} times slower`);
    console.log(`load of this machine before: ${loadavg()[0]?.toFixed(1)}\n`);
    if (isInApp) return await printInApp(stack, browser);
    if (!values["only-playing"]) await measureRounds(stack, browser);
    await printPlaying(stack, browser);
    if (!values["without-lighthouse"] && !values["only-playing"]) await printLighthouse(stack, browserPath);
    console.log(`\nload after: ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    await browser.close();
    await stack.stop();
  }
}

main().catch(explain);

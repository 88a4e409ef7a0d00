import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aptInstall } from "../scripts/find-browser.ts";
import { root } from "../scripts/processes.ts";
import { Problem } from "../scripts/say.ts";
import { onServerCore } from "./cores.ts";

export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Load {
  readonly url: string;
  /** The expected status of each answer. */
  readonly status: number;
  /** Each request is sent once. */
  readonly requests: readonly LoadRequest[];
  /** Whether the bodies of the answers are returned, in their order of arrival. Each must be one line. */
  readonly isCaptured?: boolean;
  /** 64 by default. */
  readonly connections?: number;
}

export interface LoadResult {
  readonly seconds: number;
  readonly answered: number;
  /** Number of answers by microseconds. wrk also adds requests that were not sent in time because of a slow answer. */
  readonly latencies: ReadonlyMap<number, number>;
  readonly bodies: readonly string[];
}

const CONNECTIONS = 64;
const maxSeconds = 600;

/** Sends requests, one at a time on each connection. Rejects if an answer is missing or has another status. */
export async function load({
  url,
  status,
  requests,
  isCaptured = false,
  connections = CONNECTIONS,
}: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-load-"));
  try {
    const files = {
      requests: join(folder, "requests"),
      result: join(folder, "result"),
      bodies: join(folder, "bodies"),
    };
    writeFileSync(files.requests, bytesOf(requests, new URL(url).host));
    const words = [files.requests, String(connections), String(status), files.result];
    await send(url, connections, isCaptured ? [...words, files.bodies] : words);
    const result = readResult(readFileSync(files.result, "utf8"), requests);
    return { ...result, bodies: isCaptured ? readFileSync(files.bodies, "utf8").split("\n") : [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Merges results into one with the total time and all latencies. */
export function mergeResults(results: readonly LoadResult[]): LoadResult {
  const latencies = new Map<number, number>();
  for (const result of results) {
    for (const [value, count] of result.latencies) latencies.set(value, (latencies.get(value) ?? 0) + count);
  }
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  return { seconds, answered: results.reduce((sum, result) => sum + result.answered, 0), latencies, bodies: [] };
}

export function quantileMilliseconds({ latencies }: Pick<LoadResult, "latencies">, share: number): number {
  const sorted = [...latencies].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [value, count] of sorted) {
    below += count;
    if (below >= total * share) return value / 1000;
  }
  return Number.NaN;
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Installs wrk by apt-get if it is missing: a generator in Node uses more processor time than the server under test. */
export async function requireWrk(): Promise<void> {
  if (await hasWrk()) return;
  await aptInstall("wrk").catch((error: Error) => {
    throw new Problem(
      `The bench sends its load with wrk, which apt-get did not install: ${error.message}`,
      "Install wrk.",
    );
  });
}

function hasWrk(): Promise<boolean> {
  return run("wrk", ["--version"]).then(
    () => true,
    (error: Error) => !("code" in error && error.code === "ENOENT"),
  );
}

async function send(url: string, connections: number, words: string[]): Promise<void> {
  const settings = ["-t1", `-c${connections}`, `-d${maxSeconds}s`, "--timeout", "10s"];
  await run(...onServerCore("wrk", [...settings, "-s", join(root, "bench/load.lua"), url, "--", ...words]));
}

function run(command: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${command} failed: ${output}`))));
  });
}

function bytesOf(requests: readonly LoadRequest[], host: string): Buffer {
  const parts: Buffer[] = [];
  for (const { method, path, headers = {}, body = "" } of requests) {
    const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`];
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    if (method === "POST") lines.push(`content-length: ${Buffer.byteLength(body)}`);
    const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
    parts.push(Buffer.from(`${bytes.length}\n`), bytes);
  }
  return Buffer.concat(parts);
}

function readResult(text: string, requests: readonly LoadRequest[]): Omit<LoadResult, "bodies"> {
  const facts = new Map<string, string>();
  const latencies = new Map<number, number>();
  for (const line of text.split("\n")) {
    const [name = "", value = "", count] = line.split(" ");
    if (name === "latency") latencies.set(Number(value), Number(count));
    else facts.set(name, line.slice(name.length + 1));
  }
  const numberOf = (name: string) => Number(facts.get(name));
  const path = requests[0]?.path;
  if (numberOf("unexpected") > 0) {
    throw new Error(`${path}: ${facts.get("unexpected")} unexpected answers, the first: ${facts.get("first")}`);
  }
  const answered = numberOf("answered");
  if (answered !== requests.length || numberOf("broken") > 0) {
    throw new Error(`${path}: ${answered} of ${requests.length} requests were answered, ${facts.get("broken")} broke`);
  }
  return { seconds: numberOf("elapsed") / 1e6, answered, latencies };
}

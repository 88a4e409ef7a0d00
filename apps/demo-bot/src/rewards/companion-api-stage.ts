import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sign } from "@intermission/ad-core/signature";

const botId = "7000000001";
const token = "ad_test_token_of_the_bot";
const main = join(import.meta.dirname, "../../../api/src/main.ts");

/** The companion API as it is run, in a process of its own on an embedded store, so that it can be killed and started again. */
export interface CompanionApi {
  readonly url: string;
  readonly apiKey: string;
  /** A folder for the test's own files, removed with the rest. */
  readonly folder: string;
  /** Brings a signed webhook, as the ad service would. Resolves when it is booked. */
  deliver(event: { userId: string; code: string; event?: "rewarded" | "direct_link" }): Promise<void>;
  /** Without any chance to say goodbye. */
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function startCompanionApi(): Promise<CompanionApi> {
  const folder = mkdtempSync(join(tmpdir(), "demo-bot-"));
  const apiKey = "a-backend-key-for-tests-of-40-characters";
  // The first start takes any free port, each later one the same again.
  let port = "0";
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const child = spawn(process.execPath, [main], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...{ PATH: process.env.PATH, MODE: "demo", PORT: port, DATA_DIR: folder, LOG_LEVEL: "info" },
        ...{ AD_SERVICE_URL: "http://127.0.0.1:9", BOT_ID: botId, AD_API_TOKENS: token, BACKEND_API_KEY: apiKey },
        TELEGRAM_BOT_TOKEN: `${botId}:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`,
        ...{ MINIAPP_URL: "http://127.0.0.1:9/app", DIRECT_LINK_URL: "http://127.0.0.1:9" },
        ...{ REWARD_REWARDED: "10", REWARD_DIRECT_LINK: "3" },
      },
    });
    server = child;
    port = await new Promise<string>((resolve, reject) => {
      let log = "";
      child.stdout?.on("data", (chunk) => {
        log += chunk;
        const listening = /"url":"http:\/\/127\.0\.0\.1:(\d+)","msg":"listening"/.exec(log);
        if (listening?.[1]) resolve(listening[1]);
      });
      child.once("exit", (code) => reject(new Error(`the companion API ended with ${code}: ${log}`)));
    });
  }

  async function kill(): Promise<void> {
    const killed = server;
    if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
    const exited = new Promise((resolve) => killed.once("exit", resolve));
    killed.kill("SIGKILL");
    await exited;
  }

  await start();
  const url = `http://127.0.0.1:${port}`;
  return {
    ...{ url, apiKey, folder, start, kill },
    async deliver({ userId, code, event = "rewarded" }) {
      const body = JSON.stringify({ event, event_id: `${code}:${event}`, bot_id: botId, user_tg_id: userId, code });
      const response = await fetch(`${url}/webhooks/ads`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-signature": sign(Buffer.from(body), token) },
        body,
      });
      if (response.status !== 200) throw new Error(`the webhook was answered ${response.status}`);
    },
    async remove() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

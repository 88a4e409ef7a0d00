import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { initDataOf, playedRanges, ScriptedViewer } from "../e2e/scripted-viewer.ts";
import { startCommandHost } from "../packages/testing/src/host-commands.ts";
import { copyCluster } from "../packages/testing/src/test-database.ts";
import { demoSecrets } from "../scripts/demo-secrets.ts";
import { environmentOf } from "../scripts/demo-stack.ts";
import { freePort, root, startServer } from "../scripts/processes.ts";

/** A bot of the ad service, and the address at which its backend receives webhooks. */
export interface ExampleBot {
  readonly botId: string;
  readonly token: string;
  readonly port: number;
}

export type LiveStack = Awaited<ReturnType<typeof startLiveStack>>;

/** An ad service as a process of its own, on a new embedded store, with a video of two seconds and a direct link. */
export async function startLiveStack() {
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-examples-"));
  await copyCluster(dataDirectory, { schema: "ad_service", migrations });
  const ports = { adService: await freePort(), api: 9, demoBot: 9 };
  const url = `http://127.0.0.1:${ports.adService}`;
  const secrets = demoSecrets(dataDirectory);
  const options = { dataDirectory, ports, video: "", hasChat: false, cooldownSeconds: 0, dailyCap: 100 };
  const env = environmentOf("ad-service", secrets, options, { adService: url, api: url, demoBot: url });
  const server = startServer("ad-service", "apps/ad-service/src/main.ts", { ...env, TRUST_PROXY: "127.0.0.1" });
  const host = startCommandHost(join(root, "apps/ad-service/src/cli.ts"), process.env);
  const backends = new Set<ChildProcess>();
  let visits = 0;

  async function ads(...words: string[]): Promise<{ token: string }> {
    const { code, out, err } = await host.run(words, {
      MODE: "demo",
      ADS_URL: url,
      OPERATOR_TOKEN: secrets.operatorToken,
    });
    if (code !== 0) throw new Error(`ads ${words.join(" ")} failed with ${code}:\n${out}${err}`);
    return JSON.parse(out);
  }

  async function stop(): Promise<void> {
    for (const backend of backends) await end(backend);
    await host.stop();
    await server.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }

  try {
    await server.ready;
    const house = ["campaigns", "add", "--advertiser", "Example", "--priority", "house", "--landing-url", `${url}/`];
    const video = join(root, "e2e/fixtures/clip-2s.mp4");
    await ads(...house, "--name", "Video", "--format", "rewarded", "--video", video, "--json");
    await ads(...house, "--name", "Link", "--format", "direct_link", "--json");
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url,
    secrets,
    dataDirectory,
    stop,

    /** Adds a bot. Its webhook is tested, and becomes active, when its backend first listens. */
    async addBot(botId: string): Promise<ExampleBot> {
      const port = await freePort();
      const webhookUrl = `http://127.0.0.1:${port}/webhooks/ads`;
      const { token } = await ads(
        "bots",
        "add",
        "--bot-id",
        botId,
        "--name",
        "Example",
        "--webhook-url",
        webhookUrl,
        "--json",
      );
      return { botId, token, port };
    },

    /** Starts a bot's backend; it may use `bot.port`. */
    startBackend(bot: ExampleBot, command: readonly string[], folder: string, env: NodeJS.ProcessEnv): ChildProcess {
      const [program = "", ...words] = command;
      const backend = spawn(program, words, {
        cwd: folder,
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          AD_SERVICE_URL: url,
          AD_API_TOKEN: bot.token,
          BOT_ID: bot.botId,
          PORT: String(bot.port),
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
        // A process group of its own, so that `end` also reaches what a shell or pnpm started.
        detached: true,
      });
      backends.add(backend);
      backend.once("exit", () => backends.delete(backend));
      return backend;
    },

    /** Calls `/client/v1` as the bot's publisher. */
    async call<Body>(bot: ExampleBot, method: "GET" | "POST", path: string, body?: object): Promise<Body> {
      const response = await fetch(`${url}/client/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${bot.token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as Body;
    },

    /** Follows a direct link as a person with a phone would. Each visit has an address of its own. */
    async followLink(link: string): Promise<number> {
      const agent =
        "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36";
      const headers = { "user-agent": agent, accept: "text/html", "accept-language": "en" };
      const address = `198.18.${++visits}.1`;
      const response = await fetch(link, { redirect: "manual", headers: { ...headers, "x-forwarded-for": address } });
      await response.arrayBuffer();
      return response.status;
    },

    /** Watches the ad of a code to its end and closes it. Only for the bot `secrets.botId`, whose launch data can be signed. */
    async watchAd(userId: string, code: string): Promise<string> {
      const viewer = new ScriptedViewer(url);
      const { body } = await viewer.open(secrets.botId, initDataOf(userId, secrets), code);
      if (body.outcome !== "session") throw new Error(`no ad: ${JSON.stringify(body)}`);
      const { session_id: id, token, ad } = body;
      await viewer.report(id, { token, reports: [], started: true });
      await new Promise((resolve) => setTimeout(resolve, ad.duration_ms));
      const reports = playedRanges(ad.duration_ms, 0, body.first_sequence);
      const closed = await viewer.report(id, { token, reports, closed: "tap" });
      return closed.body.state;
    },
  };
}

/** Ends a process that this file started, and its children. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const group = -child.pid;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  process.kill(group, "SIGTERM");
  const giveUp = setTimeout(() => process.kill(group, "SIGKILL"), 5000);
  await exited;
  clearTimeout(giveUp);
}

/** What `child` printed, so that a failure shows it. */
export function outputOf(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  return () => output;
}

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../scripts/processes.ts";

/** A browser that Playwright does not drive, in a window of a phone's size. */
export interface Engine {
  open(url: string): Promise<void>;
  /** The value of an expression in the page; anything that JSON has. */
  evaluate(expression: string): Promise<unknown>;
  /** A click of the mouse at this point of the page, which counts as a gesture. */
  clickAt(x: number, y: number): Promise<void>;
  close(): Promise<void>;
}

const PHONE = { width: 412, height: 800 };
const WAIT_MS = 60_000;

const clickActions = (x: number, y: number) => [
  {
    type: "pointer",
    id: "mouse",
    parameters: { pointerType: "mouse" },
    actions: [
      { type: "pointerMove", x: Math.round(x), y: Math.round(y), duration: 0 },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ],
  },
];

/** Repeats until it succeeds: the program has just been started. */
async function untilItAnswers<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (const endsAt = Date.now() + WAIT_MS; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > endsAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function start(command: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  // A group of its own, so that what it starts ends with it.
  const child = spawn(command, words, { detached: true, stdio: "ignore", env: { ...process.env, ...env } });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.once("error", () => {});
  return async () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await ended;
  };
}

const miniBrowsers = ["x86_64", "aarch64"].map((arch) => `/usr/lib/${arch}-linux-gnu/webkit2gtk-4.1/MiniBrowser`);

/** Debian's WebKitGTK, by WebDriver, on a display of its own. */
export async function startWebKit(): Promise<Engine> {
  const binary = miniBrowsers.find((path) => existsSync(path));
  if (binary === undefined) throw new Error("WebKitGTK is not installed: apt-get install webkit2gtk-driver xvfb");
  const port = await freePort();
  const words = ["-a", "-s", "-screen 0 1024x900x24", "WebKitWebDriver", `--port=${port}`];
  const stop = start("xvfb-run", words, { GDK_BACKEND: "x11", GSK_RENDERER: "cairo" });
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  };
  try {
    const options = { binary, args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } };
    const { sessionId } = (await untilItAnswers(() => call("POST", "/session", { capabilities }))) as {
      sessionId: string;
    };
    const path = `/session/${sessionId}`;
    await call("POST", `${path}/window/rect`, PHONE);
    return {
      open: async (url) => void (await call("POST", `${path}/url`, { url })),
      evaluate: (expression) => call("POST", `${path}/execute/sync`, { script: `return ${expression}`, args: [] }),
      clickAt: async (x, y) => void (await call("POST", `${path}/actions`, { actions: clickActions(x, y) })),
      async close() {
        await call("DELETE", path).catch(() => {});
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface BidiAnswer {
  id?: number;
  type: string;
  result?: unknown;
  message?: string;
}

/** Firefox, by its own port for WebDriver BiDi. */
export async function startFirefox(): Promise<Engine> {
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "intermission-firefox-"));
  const { width, height } = PHONE;
  const words = ["--headless", "--no-remote", "--profile", profile, `--width=${width}`, `--height=${height}`];
  const stopFirefox = start("firefox-esr", [...words, `--remote-debugging-port=${port}`]);
  const stop = async () => {
    await stopFirefox();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    const socket = await untilItAnswers(() => connect(`ws://127.0.0.1:${port}/session`));
    const waiting = new Map<number, (answer: BidiAnswer) => void>();
    socket.addEventListener("message", ({ data }) => {
      const answer: BidiAnswer = JSON.parse(String(data));
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    });
    let calls = 0;
    const call = async (method: string, params: object): Promise<unknown> => {
      const id = ++calls;
      const answered = new Promise<BidiAnswer>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params }));
      const answer = await answered;
      waiting.delete(id);
      if (answer.type !== "success") throw new Error(`${method}: ${answer.message}`);
      return answer.result;
    };
    await call("session.new", { capabilities: {} });
    const { contexts } = (await call("browsingContext.getTree", {})) as { contexts: { context: string }[] };
    const context = contexts[0]?.context;
    await call("browsingContext.setViewport", { context, viewport: PHONE });
    return {
      open: async (url) => void (await call("browsingContext.navigate", { context, url, wait: "complete" })),
      async evaluate(expression) {
        const params = { expression: `JSON.stringify(${expression})`, target: { context }, awaitPromise: false };
        const { result } = (await call("script.evaluate", params)) as { result?: { value?: string } };
        return JSON.parse(result?.value ?? "null");
      },
      clickAt: async (x, y) => void (await call("input.performActions", { context, actions: clickActions(x, y) })),
      async close() {
        socket.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`${url} does not answer`)));
  });
  return socket;
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findOldChromium } from "../scripts/find-old-chromium.ts";

const WAIT_MS = 30_000;
const LOOK_EVERY_MS = 100;

export interface OldBrowser {
  /** The number before the first dot. */
  readonly majorVersion: number;
  /** Uncaught errors and failed assertions of the page. */
  readonly faults: readonly string[];
  open(url: string): Promise<void>;
  /** Evaluates an expression without a user's gesture. */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until the expression is true. */
  waitFor(expression: string): Promise<void>;
  /** A tap in the middle of the first element that matches this selector. */
  tap(selector: string): Promise<void>;
  screenshot(path: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A phone's page in an old Chromium. Playwright needs functions that such a browser lacks, both in its protocol and in the
 * page, so this speaks the browser's own protocol.
 */
export async function startOldBrowser(): Promise<OldBrowser> {
  const profile = mkdtempSync(join(tmpdir(), "intermission-old-browser-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--mute-audio", "--remote-debugging-port=0"];
  const child = spawn(await findOldChromium(), [...flags, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const close = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await new Promise((done) => child.once("exit", done));
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    return { ...(await drive(await addressOf(child))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      output = `${output}${chunk}`.slice(-4000);
      const [, address] = /DevTools listening on (ws:\S+)/.exec(output) ?? [];
      if (address) resolve(address);
    });
    child.once("exit", () => reject(new Error(`the old Chromium does not start:\n${output}`)));
    child.once("error", reject);
  });
}

/** The address of the browser's page, which is there some time after the browser answers. */
async function pageOf(origin: string): Promise<string> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const [page] = await (await fetch(`${origin}/json/list`)).json();
    if (page !== undefined) return page.webSocketDebuggerUrl;
    if (Date.now() > until) throw new Error(`the old Chromium has no page after ${WAIT_MS / 1000} s`);
    await pause(LOOK_EVERY_MS);
  }
}

async function drive(address: string): Promise<Omit<OldBrowser, "close">> {
  const { origin } = new URL(address.replace("ws:", "http:"));
  const { Browser: version } = await (await fetch(`${origin}/json/version`)).json();
  const faults: string[] = [];
  const send = await connect(await pageOf(origin), (fault) => faults.push(fault));
  await send("Page.enable");
  await send("Runtime.enable");

  const screen = { width: 390, height: 740, deviceScaleFactor: 1, mobile: true };
  await send("Emulation.setDeviceMetricsOverride", screen);
  await send("Emulation.setTouchEmulationEnabled", { enabled: true });

  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  };
  const waitFor = async (expression: string) => {
    const until = Date.now() + WAIT_MS;
    // While a page is being opened there is no document.
    while ((await evaluate(`Boolean(document.body && (${expression}))`).catch(() => false)) !== true) {
      if (Date.now() > until) {
        const page = await evaluate("document.documentElement.dataset.state + ': ' + document.body.innerText");
        throw new Error(`not true after ${WAIT_MS / 1000} s: ${expression}\n${page}\n${faults.join("\n")}`);
      }
      await pause(LOOK_EVERY_MS);
    }
  };
  return {
    majorVersion: Number(/\/(\d+)\./.exec(version)?.[1]),
    faults,
    evaluate,
    waitFor,
    open: async (url) => void (await send("Page.navigate", { url })),
    async tap(selector) {
      const element = `document.querySelector(${JSON.stringify(selector)})`;
      await waitFor(element);
      const box = `(({ left, top, width, height }) => [left + width / 2, top + height / 2])(${element}.getBoundingClientRect())`;
      const [x, y] = (await evaluate(box)) as [number, number];
      await send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
      await send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    },
    async screenshot(path) {
      writeFileSync(path, Buffer.from((await send("Page.captureScreenshot")).data, "base64"));
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the protocol's results have no types here.
type Send = (method: string, parameters?: object) => Promise<any>;

async function connect(url: string, onFault: (fault: string) => void): Promise<Send> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error(`no connection to ${url}`)), { once: true });
  });
  let lastId = 0;
  const pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(String(data));
    if (method === "Runtime.exceptionThrown") onFault(params.exceptionDetails.exception?.description ?? "an exception");
    const call = pending.get(id);
    if (!call) return;
    pending.delete(id);
    if (error) call.reject(new Error(error.message));
    else call.resolve(result);
  });
  return (method, parameters = {}) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params: parameters }));
    });
}

import { type BrowserContext, expect, type Frame, type Page } from "@playwright/test";

export const versions = ["6.0", "7.0", "8.0", "9.6"] as const;
/** `weba` shows the app in a frame; the others in a web view, with a different event receiver for each platform. */
export const platforms = ["android", "ios", "tdesktop", "weba"] as const;
/** How the client delivers events: correctly, not at all, too late to matter, or malformed. */
export const manners = ["prompt", "absent", "late", "malformed"] as const;

export interface TelegramClient {
  readonly version: (typeof versions)[number];
  readonly platform: (typeof platforms)[number];
  readonly manner: (typeof manners)[number];
}

/** An interruption as soon as the video plays: a tap on the back button, or the page is hidden. */
export type Interruption = "back" | "hide";

export interface OpenedApp {
  readonly page: Page;
  /** The app's frame. */
  readonly frame: Frame;
  /** Names of the methods that the app has called on the client so far. */
  posted(): Promise<readonly string[]>;
  /** Uncaught errors of the page. */
  readonly faults: readonly string[];
  /**
   * A tap on this button. Chromium sometimes acknowledges a tap without firing an event in the page. So the tap is repeated,
   * but only as long as the app has received no event at all.
   */
  tap(name: string | RegExp): Promise<void>;
  /** Makes the page visible again, without a gesture. */
  show(): Promise<void>;
}

type ReceiveEvent = (eventType: string, eventData: unknown) => void;

declare global {
  interface Window {
    Telegram?: { WebView?: { receiveEvent?: ReceiveEvent } };
    TelegramGameProxy?: { receiveEvent?: ReceiveEvent };
    TelegramGameProxy_receiveEvent?: ReceiveEvent;
    telegramPosted: string[];
  }
}

const WEB_CLIENT = "https://web.telegram.org/a/";

/**
 * Opens the app as this client would. The client is a script that the test injects into the page; the app's build is
 * unchanged. Each interruption happens when the video starts or resumes playing, however slow the machine is.
 */
export async function openInTelegram(
  context: BrowserContext,
  url: string,
  client: TelegramClient,
  interruptions: readonly Interruption[] = [],
): Promise<OpenedApp> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  const isFramed = client.platform === "weba";
  await page.addInitScript(actAsClient, { ...client, isFramed, interruptions });
  const opened = new URL(url);
  const launch = new URLSearchParams(opened.hash.slice(1));
  launch.set("tgWebAppVersion", client.version);
  launch.set("tgWebAppPlatform", client.platform);
  opened.hash = String(launch);
  const frame = isFramed ? await openFrame(page, opened.href) : page.mainFrame();
  if (!isFramed) await page.goto(opened.href);
  const cdp = await context.newCDPSession(page);
  // page.evaluate counts as a gesture and would allow playback that a browser blocks.
  const evaluate = (expression: string) =>
    cdp.send("Runtime.evaluate", { expression, userGesture: false, returnByValue: true });
  return {
    page,
    frame,
    faults,
    tap: (name) => tapUntilHeard(page, frame, name),
    posted: async () => (await evaluate("telegramPosted")).result.value,
    async show() {
      await evaluate("telegramShow()");
    },
  };
}

async function tapUntilHeard(page: Page, frame: Frame, name: string | RegExp): Promise<void> {
  const button = frame.getByRole("button", { name });
  const tapsHeardBy = (one: Frame) => one.locator("html").getAttribute("data-heard-taps");
  const before = await tapsHeardBy(frame);
  const tapOnce = async () => {
    if ((await tapsHeardBy(frame)) === before) await button.click({ timeout: 10_000 });
    await expect.poll(() => tapsHeardBy(frame), { timeout: 1000 }).not.toBe(before);
  };
  await expect(tapOnce)
    .toPass({ timeout: 30_000 })
    .catch(async (error) => {
      const box = await button.boundingBox({ timeout: 1000 }).catch(() => null);
      const place =
        frame === page.mainFrame() ? "a web view" : `a frame whose page heard ${await tapsHeardBy(page.mainFrame())}`;
      const facts = `heard ${await tapsHeardBy(frame)} in ${place}, at ${JSON.stringify(box)}`;
      throw new Error(`no tap on ${name} arrived: ${facts}`, { cause: error });
    });
}

async function openFrame(page: Page, url: string): Promise<Frame> {
  await page.route(WEB_CLIENT, (route) =>
    route.fulfill({
      contentType: "text/html",
      // As in the real client: without the viewport meta a phone shrinks the page, and taps near its foot miss the frame.
      body: `<!doctype html><meta name="viewport" content="width=device-width, initial-scale=1"><title>Web client</title>
<style>@keyframes turn { to { rotate: 1turn } }</style>
<body style="margin:0">
<!-- The real client's page draws all the time, too. -->
<div style="position:fixed;width:1px;height:1px;animation:turn 1s linear infinite;background:#ccc"></div>
<iframe src="${url.replaceAll("&", "&amp;")}" allow="autoplay" style="display:block;border:0;width:100vw;height:100vh"></iframe>`,
    }),
  );
  // Needed only in tests, where a public page frames an app on this machine.
  await page.context().grantPermissions(["local-network-access"], { origin: new URL(WEB_CLIENT).origin });
  await page.goto(WEB_CLIENT);
  const frame = page.frames().find((each) => each !== page.mainFrame());
  if (!frame) throw new Error("the web client shows no frame");
  return frame;
}

/** Runs in each frame of the page, before any other script. */
function actAsClient(
  client: TelegramClient & { readonly isFramed: boolean; readonly interruptions: readonly Interruption[] },
): void {
  const { version, platform, manner, isFramed } = client;
  const isClient = window.parent === window;
  const isApp = isFramed !== isClient;
  const isFrom = (minVersion: number) => Number.parseFloat(version) >= minVersion;
  const hasEvents = manner === "prompt" || manner === "late";

  let heardTaps = 0;
  addEventListener(
    "pointerdown",
    () => document.documentElement.setAttribute("data-heard-taps", `${++heardTaps}`),
    true,
  );

  // The client.

  const garbage = [null, "text", 42, [], { is_visible: "no", theme_params: 7, top: "high", height: null }];

  const deliver = (eventType: string, eventData: unknown) => {
    if (isFramed) {
      document.querySelector("iframe")?.contentWindow?.postMessage(JSON.stringify({ eventType, eventData }), "*");
      return;
    }
    const receivers = {
      android: window.Telegram?.WebView?.receiveEvent,
      ios: window.TelegramGameProxy_receiveEvent,
      tdesktop: window.TelegramGameProxy?.receiveEvent,
      weba: undefined,
    };
    receivers[platform]?.(eventType, eventData);
  };

  const send = (eventType: string, eventData: unknown, lateMs: number) => {
    if (manner === "absent") return;
    if (manner === "malformed") for (const data of garbage) setTimeout(deliver, 0, eventType, data);
    else setTimeout(deliver, manner === "late" ? lateMs : 0, eventType, eventData);
  };

  const insets = { top: 10, right: 0, bottom: 20, left: 0 };
  const answers: Record<string, [eventType: string, eventData: unknown][]> = {
    web_app_ready: [
      ["viewport_changed", { height: innerHeight, width: innerWidth, is_state_stable: true, is_expanded: true }],
      ["theme_changed", { theme_params: { bg_color: "#17212b", text_color: "#f5f5f5" } }],
    ],
    web_app_request_safe_area: [["safe_area_changed", insets]],
    web_app_request_content_safe_area: [["content_safe_area_changed", insets]],
  };
  const hear = (eventType: string) => {
    window.telegramPosted.push(eventType);
    for (const [answer, data] of answers[eventType] ?? []) send(answer, data, 1500);
  };
  if (isClient) window.telegramPosted = [];
  if (isClient && isFramed) {
    addEventListener("message", ({ data }) => {
      const { eventType, interruption } = JSON.parse(data);
      if (interruption) send(interruption, interruption === "visibility_changed" ? { is_visible: false } : null, 200);
      else hear(eventType);
    });
  }
  if (isClient && !isFramed) Object.assign(window, { TelegramWebviewProxy: { postEvent: hear } });

  // The interruptions.

  const setHidden = (isHidden: boolean) => {
    Object.defineProperty(document, "visibilityState", {
      configurable: true,
      get: () => (isHidden ? "hidden" : "visible"),
    });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  const happen = (event: "back_button_pressed" | "visibility_changed") => {
    if (isFramed) parent.postMessage(JSON.stringify({ interruption: event }), "*");
    else send(event, event === "visibility_changed" ? { is_visible: false } : null, 200);
  };
  const interrupt = (what: Interruption) => {
    if (what === "hide") return hasEvents && isFrom(8) ? happen("visibility_changed") : setHidden(true);
    if (manner === "malformed") happen("visibility_changed");
    if (hasEvents && isFrom(6.1)) return happen("back_button_pressed");
    document.querySelector<HTMLElement>(".pill > button")?.click();
  };
  // A viewer cannot leave a screen that is not drawn yet.
  const whenShown = (callback: () => void) => {
    if (document.querySelector(".controls")) callback();
    else setTimeout(whenShown, 20, callback);
  };
  if (isApp) {
    let heardTaps = 0;
    addEventListener(
      "pointerdown",
      () => document.documentElement.setAttribute("data-heard-taps", `${++heardTaps}`),
      true,
    );
    const waiting = [...client.interruptions];
    const onPlaying = ({ target }: Event) => {
      const next = waiting.shift();
      if (!next || !(target instanceof HTMLVideoElement)) return;
      // As an incoming call does; also, on a busy machine a short video could end before the interruption.
      target.pause();
      whenShown(() => interrupt(next));
    };
    // Media events do not bubble, but a capturing listener receives them.
    addEventListener("playing", onPlaying, true);
  }
  const show = () => {
    if (hasEvents && isFrom(8)) send("visibility_changed", { is_visible: true }, 200);
    else if (isApp) setHidden(false);
    else document.querySelector("iframe")?.contentWindow?.postMessage("show", "*");
  };
  if (isClient) Object.assign(window, { telegramShow: show });
  else addEventListener("message", ({ data }) => data === "show" && setHidden(false));
}

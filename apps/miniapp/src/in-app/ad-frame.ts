import type { ShownFrame } from "@intermission/ad-core/frame-in-view";
import type { ScriptTrouble } from "@intermission/ad-core/wire-fields";
import { relayCall, relayEvents } from "./client-relay.ts";
import {
  FRAME_PORT,
  FRAME_READY,
  type FromFrame,
  type PreloadedMedia,
  type ShownLaunch,
  type TasksResult,
  type ToFrame,
} from "./messages.ts";
import type { ShowResult } from "./show-result.ts";

/** A frame that is refused, by the page's policy or by its own, fires no error. */
const MAX_WAIT_MS = 20_000;

type FrameTrouble = Extract<ScriptTrouble, `frame-${string}`>;

/** The frame of one ad, or of the list of tasks, from its loading to its removal. */
export interface AdFrame {
  preload(media: PreloadedMedia): void;
  /** `first`: the answer until the frame says another one. */
  show<Result extends ShowResult | TasksResult>(
    launch: ShownLaunch,
    options: ShowOptions & { first: Result },
  ): Promise<Result | Unavailable>;
  /** The page has removed or moved it, which loads it anew: nothing is at the other end of its port. */
  readonly isLost: boolean;
  remove(): void;
}

/** Set on the element that covers the page, so that a second script in the page sees it. */
const COVER = "intermissionAd";
export const isPageCovered = (): boolean => document.querySelector("dialog[data-intermission-ad]") !== null;

/** The frame did not come: an answer of both. */
type Unavailable = { readonly outcome: "unavailable"; readonly reason: FrameTrouble };

/** Loads the frame unseen. `path`: behind `/embed/`. */
export function createAdFrame(base: string, path: string, report: (trouble: FrameTrouble) => void): AdFrame {
  const dialog = document.createElement("dialog");
  const frame = document.createElement("iframe");
  frame.src = `${base}/embed/${path}`;
  frame.title = "Ad";
  frame.allow = "autoplay; fullscreen";
  frame.style.cssText = "position:absolute;top:0;left:0;width:100%;height:100%;border:0";
  dialog.append(frame);
  const { origin } = new URL(base);
  const lost = new AbortController();
  const connecting = connect(frame, origin, () => lost.abort());
  const whenBlocked = waitForRefusal(origin);
  document.body.append(dialog);
  const send = (message: ToFrame) => connecting.then((port) => port.postMessage(message));
  return {
    preload: (media) => void send({ kind: "preload", media }),
    show: (launch, options) =>
      showFrame({ dialog, frame, connecting, lost: lost.signal, whenBlocked, report, launch, ...options }),
    get isLost() {
      return lost.signal.aborted || !frame.isConnected;
    },
    remove: () => dialog.remove(),
  };
}

/**
 * The first word of the frame's own window and origin gets a port; nothing else is ever heard from a window. A second one means
 * that the frame was loaded anew.
 */
function connect(frame: HTMLIFrameElement, origin: string, onLost: () => void): Promise<MessagePort> {
  return new Promise((resolve) => {
    let isConnected = false;
    const onMessage = (event: MessageEvent) => {
      if (event.source !== frame.contentWindow || event.origin !== origin || event.data !== FRAME_READY) return;
      if (isConnected) {
        window.removeEventListener("message", onMessage);
        return onLost();
      }
      isConnected = true;
      const { port1, port2 } = new MessageChannel();
      port1.start();
      frame.contentWindow?.postMessage(FRAME_PORT, origin, [port2]);
      resolve(port1);
    };
    window.addEventListener("message", onMessage);
  });
}

/** Resolves when the page's own policy refuses a frame of this origin. */
function waitForRefusal(origin: string): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
      if (effectiveDirective === "frame-src" && blockedURI.startsWith(origin)) resolve();
    });
  });
}

interface ShowOptions {
  signal: AbortSignal | undefined;
  onStart: (() => void) | undefined;
}

interface Shown<Result> extends ShowOptions {
  first: Result;
  dialog: HTMLDialogElement;
  frame: HTMLIFrameElement;
  connecting: Promise<MessagePort>;
  lost: AbortSignal;
  whenBlocked: Promise<void>;
  report: (trouble: FrameTrouble) => void;
  launch: ShownLaunch;
}

function showFrame<Result extends ShowResult | TasksResult>({
  first,
  dialog,
  frame,
  connecting,
  lost,
  whenBlocked,
  report,
  launch,
  signal,
  onStart,
}: Shown<Result>): Promise<Result | Unavailable> {
  return new Promise((resolve) => {
    let result: Result | Unavailable = first;
    let port: MessagePort | undefined;
    const uncover = cover(dialog, frame, () =>
      port?.postMessage({ kind: "event", name: "back_button_pressed", data: null } satisfies ToFrame),
    );
    const stopEvents = relayEvents(
      (name, data) => port?.postMessage({ kind: "event", name, data } satisfies ToFrame),
      launch.theme,
    );
    const tellWindow = () =>
      port?.postMessage({ kind: "window", width: innerWidth, height: innerHeight } satisfies ToFrame);
    window.addEventListener("resize", tellWindow);
    // A page that renders itself anew may take the frame with it.
    const removal = new MutationObserver(() => frame.isConnected || end());
    for (const parent of [document.documentElement, document.body, dialog])
      removal.observe(parent, { childList: true });
    lost.addEventListener("abort", () => end());
    const end = () => {
      clearTimeout(tooLate);
      window.removeEventListener("resize", tellWindow);
      removal.disconnect();
      signal?.removeEventListener("abort", end);
      stopEvents();
      uncover();
      port?.close();
      resolve(result);
    };
    const giveUp = (reason: FrameTrouble) => {
      if (port) return;
      result = { outcome: "unavailable", reason };
      report(reason);
      end();
    };
    const tooLate = setTimeout(() => {
      console.error(
        `Intermission: ${frame.src} did not load in the frame. ${location.origin}, and each page around it, as https://web.telegram.org, must be among the bot's app origins.`,
      );
      giveUp("frame-not-loaded");
    }, MAX_WAIT_MS);
    whenBlocked.then(() => giveUp("frame-blocked"));
    signal?.addEventListener("abort", end);
    connecting.then((connected) => {
      clearTimeout(tooLate);
      port = connected;
      port.onmessage = ({ data }: MessageEvent<FromFrame>) => {
        switch (data.kind) {
          case "call":
            return relayCall(data.method, data.parameters);
          case "result":
            // The page of the frame's address says results of its own kind.
            result = data.result as Result;
            return;
          case "started":
            return onStart?.();
          case "out-of-view":
            return warn(data.frame);
          case "done":
            return end();
          default:
            data satisfies never;
        }
      };
      tellWindow();
      port.postMessage({ kind: "show", ...launch } satisfies ToFrame);
    });
  });
}

function warn({ in_view: share, width, height, covered: isCovered }: ShownFrame): void {
  const size = `${width} × ${height} pixels of the window's ${innerWidth} × ${innerHeight}`;
  console.warn(
    `Intermission: the ad waits, since its frame is not in view (${Math.round(share * 100)} % of ${size}${isCovered ? ", covered" : ""}). Remove what the page's styles or scripts do to it.`,
  );
}

/** Covers the page with the frame until the returned function removes it, and gives focus and scrolling back. */
function cover(dialog: HTMLDialogElement, frame: HTMLIFrameElement, onBack: () => void): () => void {
  const focused = document.activeElement;
  const { style } = document.documentElement;
  const { overflow } = style;
  style.overflow = "hidden";
  dialog.dataset[COVER] = "";
  dialog.style.cssText =
    "position:fixed;top:0;left:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;border:0;padding:0;overflow:hidden;background:#000;display:block;z-index:2147483647";
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    onBack();
  });
  // Browsers close a dialog at the second Escape, whatever a page says to the first.
  dialog.addEventListener("close", () => {
    if (dialog.isConnected) dialog.showModal?.();
    onBack();
  });
  // Safari before 15.4 has no dialogs: the element covers the page all the same.
  dialog.showModal?.();
  frame.focus();
  return () => {
    dialog.remove();
    style.overflow = overflow;
    if (focused instanceof HTMLElement) focused.focus();
  };
}

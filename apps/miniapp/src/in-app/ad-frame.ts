import { relayCall, relayEvents } from "./client-relay.ts";
import {
  FRAME_PORT,
  FRAME_READY,
  type FromFrame,
  type PreloadedMedia,
  type ShownLaunch,
  type ToFrame,
} from "./messages.ts";
import type { ShowResult } from "./show-result.ts";

/** A frame that is refused, by the page's policy or by its own, fires no error. */
const MAX_WAIT_MS = 20_000;

/** The frame of one ad, from its loading to its removal. */
export interface AdFrame {
  preload(media: PreloadedMedia): void;
  show(launch: ShownLaunch, signal: AbortSignal | undefined): Promise<ShowResult>;
}

/** Loads the frame unseen. */
export function createAdFrame(base: string, botId: string): AdFrame {
  const dialog = document.createElement("dialog");
  const frame = document.createElement("iframe");
  frame.src = `${base}/embed/${botId}`;
  frame.title = "Ad";
  frame.allow = "autoplay; fullscreen";
  frame.style.cssText = "position:absolute;top:0;left:0;width:100%;height:100%;border:0";
  dialog.append(frame);
  const connecting = connect(frame, new URL(base).origin);
  document.body.append(dialog);
  const send = (message: ToFrame) => connecting.then((port) => port.postMessage(message));
  return {
    preload: (media) => void send({ kind: "preload", media }),
    show: (launch, signal) => showFrame({ dialog, frame, connecting, launch, signal }),
  };
}

/** The first word of the frame's own window and origin gets a port; nothing else is ever heard from a window. */
function connect(frame: HTMLIFrameElement, origin: string): Promise<MessagePort> {
  return new Promise((resolve) => {
    const onMessage = (event: MessageEvent) => {
      if (event.source !== frame.contentWindow || event.origin !== origin || event.data !== FRAME_READY) return;
      window.removeEventListener("message", onMessage);
      const { port1, port2 } = new MessageChannel();
      port1.start();
      frame.contentWindow?.postMessage(FRAME_PORT, origin, [port2]);
      resolve(port1);
    };
    window.addEventListener("message", onMessage);
  });
}

interface Shown {
  dialog: HTMLDialogElement;
  frame: HTMLIFrameElement;
  connecting: Promise<MessagePort>;
  launch: ShownLaunch;
  signal: AbortSignal | undefined;
}

function showFrame({ dialog, frame, connecting, launch, signal }: Shown): Promise<ShowResult> {
  return new Promise((resolve) => {
    let result: ShowResult = { outcome: "unavailable", reason: "frame-not-loaded" };
    let port: MessagePort | undefined;
    const uncover = cover(dialog, frame, () =>
      port?.postMessage({ kind: "event", name: "back_button_pressed", data: null } satisfies ToFrame),
    );
    const stopEvents = relayEvents(
      (name, data) => port?.postMessage({ kind: "event", name, data } satisfies ToFrame),
      launch.theme,
    );
    const end = () => {
      clearTimeout(tooLate);
      signal?.removeEventListener("abort", end);
      stopEvents();
      uncover();
      port?.close();
      resolve(result);
    };
    const tooLate = setTimeout(() => {
      console.error(
        `Intermission: ${frame.src} did not load in the frame. Its origin must be in the page's frame-src, and ${location.origin} (and each page around it, as https://web.telegram.org) among the bot's app origins.`,
      );
      end();
    }, MAX_WAIT_MS);
    signal?.addEventListener("abort", end);
    connecting.then((connected) => {
      clearTimeout(tooLate);
      port = connected;
      port.onmessage = ({ data }: MessageEvent<FromFrame>) => {
        switch (data.kind) {
          case "call":
            return relayCall(data.method, data.parameters);
          case "result":
            result = data.result;
            return;
          case "done":
            return end();
          default:
            data satisfies never;
        }
      };
      port.postMessage({ kind: "show", ...launch } satisfies ToFrame);
    });
  });
}

/** Covers the page with the frame until the returned function removes it, and gives focus and scrolling back. */
function cover(dialog: HTMLDialogElement, frame: HTMLIFrameElement, onBack: () => void): () => void {
  const focused = document.activeElement;
  const { style } = document.documentElement;
  const { overflow } = style;
  style.overflow = "hidden";
  dialog.style.cssText =
    "position:fixed;top:0;left:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;border:0;padding:0;overflow:hidden;background:#000;display:block;z-index:2147483647";
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
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

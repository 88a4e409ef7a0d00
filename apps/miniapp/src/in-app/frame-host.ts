import { createHost, type Host } from "../telegram/host.ts";
import type { Bridge } from "../telegram/late-bridge.ts";
import type { FromFrame, ShownLaunch, ToFrame } from "./messages.ts";
import { isOver, resultAfter, resultOfInterstitial, type ShowResult } from "./show-result.ts";
import type { WatchedFrame } from "./watch-frame.ts";

/** Rotations and keyboards are over by then. */
const REPORTED_AFTER_MS = 1000;

/**
 * The publisher's page around this frame, as the app's host. Telegram refuses methods of a frame's origin, so the script in
 * the page calls them, and passes on the client's events.
 */
export function createFrameHost(
  port: MessagePort,
  { client, format, frame }: Pick<ShownLaunch, "client" | "format"> & { frame: WatchedFrame },
): Host {
  const tell = (message: FromFrame) => port.postMessage(message);
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const hear = (name: string, data: unknown) => {
    for (const listener of listeners.get(name) ?? []) listener(data);
  };
  port.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => {
    if (data?.kind === "event") hear(data.name, data.data);
  });
  // The page's dialog does not hear the keys of its frame.
  window.addEventListener("keydown", ({ key }) => key === "Escape" && hear("back_button_pressed", null));
  const post: Bridge["post"] = (method, parameters) => tell({ kind: "call", method, parameters });
  const bridge: Bridge = {
    post,
    postNow(method, parameters) {
      if (client !== "none") post(method, parameters);
      return client !== "none";
    },
    on(name, listener) {
      const heard = listeners.get(name) ?? new Set();
      listeners.set(name, heard.add(listener));
      return () => heard.delete(listener);
    },
  };
  let result: ShowResult = { outcome: "unavailable", reason: "unreachable" };
  const host = createHost(bridge);
  return {
    ...host,
    close: () => tell({ kind: "done" }),
    // Telegram Web opens links of its frames itself; elsewhere a link would navigate the web view.
    openLink: (url) => client === "native" && bridge.postNow("web_app_open_link", { url }),
    frame: () => frame.current,
    onVisibility: (listener) => watchBoth(host, frame, { listener, tell }),
    onNews(news) {
      if (news.phase === "stage" && news.stage === "playing") tell({ kind: "started" });
      const isInterstitial = format === "interstitial";
      const next = isInterstitial ? resultOfInterstitial(result, news) : resultAfter(result, news);
      if (JSON.stringify(next) !== JSON.stringify(result)) {
        result = next;
        tell({ kind: "result", result });
      }
      // Between two scenes of a game, nobody waits for a screen that says why there is no ad.
      if (isInterstitial && isOver(news)) tell({ kind: "done" });
    },
  };
}

/** Away: by the client's word, or because too little of the frame is in view. */
function watchBoth(
  host: Host,
  frame: WatchedFrame,
  { listener, tell }: { listener: (isVisible: boolean) => void; tell: (message: FromFrame) => void },
): () => void {
  let isVisible = true;
  let late: ReturnType<typeof setTimeout> | undefined;
  const onChange = () => {
    listener(isVisible && frame.isInView);
    if (!frame.isInView) {
      late ??= setTimeout(() => tell({ kind: "out-of-view", frame: frame.current }), REPORTED_AFTER_MS);
      return;
    }
    clearTimeout(late);
    late = undefined;
  };
  const stopFrame = frame.onChange(onChange);
  const stopClient = host.onVisibility((isSeen) => {
    isVisible = isSeen;
    onChange();
  });
  onChange();
  return () => {
    clearTimeout(late);
    stopFrame();
    stopClient();
  };
}

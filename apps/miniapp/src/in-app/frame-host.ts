import { createHost, type Host } from "../telegram/host.ts";
import type { FromFrame, ShownLaunch } from "./messages.ts";
import { portBridge } from "./port-bridge.ts";
import { isOver, resultAfter, resultOfInterstitial, type ShowResult } from "./show-result.ts";
import type { WatchedFrame } from "./watch-frame.ts";

/** Rotations and keyboards are over by then. */
const REPORTED_AFTER_MS = 1000;

/** The publisher's page around this frame, as the app's host. */
export function createFrameHost(
  port: MessagePort,
  { client, format, frame }: Pick<ShownLaunch, "client" | "format"> & { frame: WatchedFrame },
): Host {
  const tell = (message: FromFrame) => port.postMessage(message);
  const bridge = portBridge(port, client);
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

import { createHost, type Host } from "../telegram/host.ts";
import type { Bridge } from "../telegram/late-bridge.ts";
import type { FromFrame, ToFrame } from "./messages.ts";
import { resultAfter, type ShowResult } from "./show-result.ts";

/**
 * The publisher's page around this frame, as the app's host. Telegram refuses methods of a frame's origin, so the script in
 * the page calls them, and passes on the client's events.
 */
export function createFrameHost(port: MessagePort, client: "native" | "web" | "none"): Host {
  const tell = (message: FromFrame) => port.postMessage(message);
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  port.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => {
    if (data.kind !== "event") return;
    for (const listener of listeners.get(data.name) ?? []) listener(data.data);
  });
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
  return {
    ...createHost(bridge),
    close: () => tell({ kind: "done" }),
    // Telegram Web opens links of its frames itself; elsewhere a link would navigate the web view.
    openLink: (url) => client === "native" && bridge.postNow("web_app_open_link", { url }),
    onNews(news) {
      const next = resultAfter(result, news);
      if (JSON.stringify(next) === JSON.stringify(result)) return;
      result = next;
      tell({ kind: "result", result });
    },
  };
}

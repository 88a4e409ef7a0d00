import type { Bridge } from "../telegram/late-bridge.ts";
import type { FromFrame, ShownLaunch, ToFrame } from "./messages.ts";

/** Telegram refuses methods of a frame's origin, so the script in the page calls them, and passes on the client's events. */
export function portBridge(port: MessagePort, client: ShownLaunch["client"]): Bridge {
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const hear = (name: string, data: unknown) => {
    for (const listener of listeners.get(name) ?? []) listener(data);
  };
  port.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => {
    if (data?.kind === "event") hear(data.name, data.data);
  });
  // The page's dialog does not hear the keys of its frame.
  window.addEventListener("keydown", ({ key }) => key === "Escape" && hear("back_button_pressed", null));
  const post: Bridge["post"] = (method, parameters) =>
    port.postMessage({ kind: "call", method, parameters } satisfies FromFrame);
  return {
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
}

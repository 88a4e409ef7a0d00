import type { EventName, MethodName } from "@telegram-apps/sdk-react";

export interface Bridge {
  post(method: MethodName, parameters?: object): void;
  /** Returns false, and does nothing, if there is no client or its version does not have the method. */
  postNow(method: MethodName, parameters?: object): boolean;
  /** Nothing in the data of an event can be relied on. Returns a function that stops listening. */
  on(eventType: EventName, listener: (data: unknown) => void): () => void;
}

const PAUSE_MS = 2000;

/**
 * The SDK's bridge, which the first screen does not wait for: `load` fetches its file. What was posted earlier is posted then, in
 * the same order; `postNow` returns false until then.
 */
export function lateBridge(fetchBridge: () => Promise<Bridge>): Bridge & { load(): Promise<void> } {
  let bridge: Bridge | undefined;
  const waiting: ((loaded: Bridge) => void)[] = [];
  const whenLoaded = (call: (loaded: Bridge) => void) => (bridge ? call(bridge) : waiting.push(call));
  return {
    async load() {
      while (!bridge) {
        bridge = await fetchBridge().catch(() => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)));
      }
      for (const call of waiting) call(bridge);
    },
    post(method, parameters) {
      whenLoaded((loaded) => loaded.post(method, parameters));
    },
    postNow: (method, parameters) => bridge?.postNow(method, parameters) ?? false,
    on(eventType, listener) {
      let stop: (() => void) | undefined;
      let isStopped = false;
      whenLoaded((loaded) => {
        if (!isStopped) stop = loaded.on(eventType, listener);
      });
      return () => {
        isStopped = true;
        stop?.();
      };
    },
  };
}

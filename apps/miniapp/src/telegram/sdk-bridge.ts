import { createPostEvent, type MethodName, on, targetOrigin } from "@telegram-apps/sdk-react";
import type { Bridge } from "./late-bridge.ts";

/**
 * Uses the SDK's bridge but not its components: those throw on launch data that real clients send (a missing `signature`,
 * short colours), and they add 12 kB.
 */
export function createBridge(version: string): Bridge {
  // The messages contain no secrets, and the page's content security policy restricts which sites may frame it.
  attempt(() => targetOrigin.set("*"));
  // Throws if the client's version does not support the method, or if there is no client.
  const send: (method: MethodName, parameters?: object) => void = createPostEvent(version);
  const postNow: Bridge["postNow"] = (method, parameters) =>
    attempt(() => {
      send(method, parameters);
      return true;
    }) ?? false;
  return {
    post: postNow,
    postNow,
    on: (eventType, listener) => attempt(() => on(eventType, listener)) ?? (() => {}),
  };
}

function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

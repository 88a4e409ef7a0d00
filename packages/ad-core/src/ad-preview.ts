import type { AdForPlayer } from "./player-api.ts";

/**
 * Between the console and the mini-app in its frame, both pages of the ad service's origin, by `postMessage`: the mini-app says
 * that it is ready, the console answers with the ad that it shall show. Letters that are pressed in the mini-app, which has no use
 * for them, are passed on as the console's keys. Neither opens a view.
 */
export type AdPreviewMessage =
  | { kind: "ad-preview-ready" }
  | { kind: "ad-preview"; ad: AdForPlayer }
  | { kind: "ad-preview-key"; key: string; code: string };

const kinds: readonly unknown[] = ["ad-preview-ready", "ad-preview", "ad-preview-key"];

/** A message of the other page; undefined for anything else, such as the messages to a Telegram client. */
export function readAdPreviewMessage(
  { origin, data }: { origin: string; data: unknown },
  own: string,
): AdPreviewMessage | undefined {
  if (origin !== own || typeof data !== "object" || data === null || !("kind" in data)) return undefined;
  // Both pages are of the same service and release.
  return kinds.includes(data.kind) ? (data as AdPreviewMessage) : undefined;
}

import type { Consent } from "@intermission/ad-core/consent";
import type { ShownFrame } from "@intermission/ad-core/frame-in-view";
import type { ShowResult } from "./show-result.ts";

/** What the frame calls until the script answers with a port. Neither has anything else in it. */
export const FRAME_READY = "intermission-frame-ready";
export const FRAME_PORT = "intermission-frame-port";

/** From the script to the frame, through the port. */
export type ToFrame =
  /** Loads a video that the ad may have. Nothing is opened. */
  | { readonly kind: "preload"; readonly media: PreloadedMedia }
  | ({ readonly kind: "show" } & ShownLaunch)
  | ({ readonly kind: "window" } & WindowSize)
  /** An event of Telegram's client, by the name that the client gives it. */
  | { readonly kind: "event"; readonly name: string; readonly data: unknown };

export type AdFormat = "rewarded" | "interstitial";

/** Of the page's window, in CSS pixels. */
export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

export interface PreloadedMedia {
  readonly url: string;
  readonly poster_url?: string | undefined;
}

/** What the script knows of the launch of its page. */
export interface ShownLaunch {
  readonly appGrant: string;
  readonly format: AdFormat | undefined;
  /** The publisher's API and the user's language are read from it. */
  readonly initData: string;
  readonly code: string | undefined;
  readonly note: string | undefined;
  /** As the page's consent platforms have it. */
  readonly consent: Consent | undefined;
  readonly theme: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  /** Telegram's client is around the script's page, and `isNative`: it is no frame of Telegram Web. */
  readonly client: "native" | "web" | "none";
}

/** What `showTasks()` answers, the same as `TasksResult` of `@intermission/publisher/in-app`. */
export interface TasksResult {
  readonly outcome: "closed" | "refused" | "unavailable";
  readonly reason?: string;
}

/** From the frame to the script. */
export type FromFrame =
  | { readonly kind: "call"; readonly method: string; readonly parameters: object | undefined }
  /** What `show`, or `showTasks`, answers if the frame is removed now. */
  | { readonly kind: "result"; readonly result: ShowResult | TasksResult }
  /** The video begins. */
  | { readonly kind: "started" }
  /** The ad waits, since too little of the frame is in view. */
  | { readonly kind: "out-of-view"; readonly frame: ShownFrame }
  | { readonly kind: "done" };

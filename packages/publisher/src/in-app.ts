/**
 * Types of `Intermission`, the script `/sdk/v1.js` of the ad service in the publisher's own mini-app. There is nothing to import
 * at run time: `import type {} from "@intermission/publisher/in-app"` declares `window.Intermission`.
 */

/** What became of an ad. */
export type ShowOutcome =
  /** The publisher's API has said that it recorded the reward. The webhook stays the source of truth. */
  | "credited"
  /** It was watched to the end; the publisher has no API, or has not said yet that it recorded the reward. */
  | "watched"
  /** An interstitial that the user left by its button. */
  | "skipped"
  | "closed-early"
  | "no-ad"
  /** By the bot's cooldown or daily cap; an interstitial by its pause between two. */
  | "limited"
  /** By the ad service, for `reason`: a code that was used, launch data that is too old, a view that is refused. */
  | "refused"
  /** The ad service was not reached, or the video does not play here. */
  | "unavailable";

export interface ShowResult {
  readonly outcome: ShowOutcome;
  readonly reason?: string;
  /** The `event_id` of the webhook. */
  readonly eventId?: string;
  /** When to try again: RFC 3339, in UTC. */
  readonly availableAt?: string;
  readonly secondsWatched?: number;
}

export interface TasksResult {
  /** `refused`: launch data that is too old, a suspended bot; `unavailable`: the ad service was not reached. */
  readonly outcome: "closed" | "refused" | "unavailable";
  readonly reason?: string;
}

export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly availableAt?: string };

export interface FormatOptions {
  /** `interstitial`: an ad that rewards nobody and may be skipped. Default: `rewarded`. */
  readonly format?: "rewarded" | "interstitial" | undefined;
}

export interface ShowOptions extends FormatOptions {
  /** From your backend (`POST /client/v1/codes`), with a reference of your own. Without one, the user's open code or a new one. */
  readonly code?: string | undefined;
  /** At most 128 characters, for your own books: `client_note` of the webhook. Unsigned, so never a reason to pay. */
  readonly note?: string | undefined;
  /** Removes the ad. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the video begins, so that a game can be silent. */
  readonly onStart?: (() => void) | undefined;
}

/** Ads of one bot. Each rejects only for a mistake of the page, with a sentence that says what to do. */
export interface InAppAds {
  /** Whether the user could watch an ad now. A hint: showing it decides. */
  availability(options?: FormatOptions): Promise<Availability>;
  /** Loads the frame and the beginning of the video. Nothing is held or counted. */
  preload(options?: FormatOptions): Promise<void>;
  /** Shows an ad over the page until the user closes it. One at a time. */
  show(options?: ShowOptions): Promise<ShowResult>;
  /**
   * Shows the user's tasks over the page, with their states, until the user closes them. The webhooks `task` and `task_reversed` say
   * what to pay and to take back.
   */
  showTasks(options?: { readonly signal?: AbortSignal | undefined }): Promise<TasksResult>;
}

export interface IntermissionScript {
  readonly version: string;
  init(options: { readonly botId: string }): InAppAds;
}

declare global {
  /** Set by `<script src="…/sdk/v1.js">`. */
  var Intermission: IntermissionScript;
}

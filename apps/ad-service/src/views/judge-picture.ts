import type { ReportRequest } from "@intermission/ad-core/player-api";
import type { ViewingSignals } from "./viewing-signals.ts";

interface PictureFacts {
  /** The size that the player reports with its call. */
  picture: ReportRequest["picture"];
  /** The service has inspected its own files; what an address of a VAST ad sends is known to the player alone. */
  isInspected: boolean;
  /** Including the reports of this call, also those that came too early. */
  signals: Pick<ViewingSignals, "countedMs" | "frames">;
  /** With this call the view would be watched, now or when its reports fit the clock. */
  isComplete: boolean;
}

/**
 * Whether a view has played without a picture, such as a file of HEVC in a browser that decodes only its sound. A player that
 * reports no size is judged by its frames when the view is complete, and only for a file that was not inspected: of a still
 * picture, a player may count no further frame.
 */
export function hasNoPicture({ picture, isInspected, signals, isComplete }: PictureFacts): boolean {
  if (picture) return picture.width === 0 || picture.height === 0;
  return !isInspected && isComplete && signals.countedMs > 0 && signals.frames === 0;
}

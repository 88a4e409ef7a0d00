import type { ProgressReport } from "./player-api.ts";

export type ShownFrame = NonNullable<ProgressReport["frame"]>;

const MIN_SHARE_OF_FRAME = 0.9;
const MIN_SHARE_OF_WINDOW = 0.5;
/** The window's size is the page's own claim, so a frame needs a size that a video can be watched in. */
const MIN_SIDE_PX = 120;

/** Whether an ad in a frame can be watched: the player waits while it cannot, and the ad service counts none of that time. */
export function isFrameInView(frame: ShownFrame): boolean {
  const { in_view: share, width, height } = frame;
  const windowArea = frame.window_width * frame.window_height;
  return (
    share >= MIN_SHARE_OF_FRAME &&
    Math.min(width, height) >= MIN_SIDE_PX &&
    windowArea > 0 &&
    share * width * height >= MIN_SHARE_OF_WINDOW * windowArea
  );
}

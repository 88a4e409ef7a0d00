import { useCallback } from "react";

/** A slot for the video created before React: the element is moved in, never created again, so nothing loads twice. */
export function VideoSlot({ video, width, height }: { video: HTMLVideoElement; width: number; height: number }) {
  const adopt = useCallback(
    (slot: HTMLDivElement | null) => {
      video.setAttribute("aria-hidden", "true");
      video.tabIndex = -1;
      slot?.replaceChildren(video);
    },
    [video],
  );
  return <div className="video-slot" ref={adopt} style={{ aspectRatio: `${width} / ${height}` }} />;
}

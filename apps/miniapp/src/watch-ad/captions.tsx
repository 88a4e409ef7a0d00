import type { CaptionCue } from "@intermission/ad-core/captions";
import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { useEffect, useState } from "react";
import { fetchCaptions } from "../ad-service-client.ts";

interface ShownCaptions {
  readonly language: string;
  readonly cues: readonly CaptionCue[];
}

/**
 * The ad's captions, once loaded. The app draws them instead of the browser: a `<track>` would make the video itself load
 * with CORS when the app is on another origin, and would be covered by the controls.
 */
export function useCaptions({ captions }: AdForPlayer): ShownCaptions | undefined {
  const [shown, setShown] = useState<ShownCaptions>();
  // The ad service lists those for this viewer first.
  const { url, language = "" } = captions?.[0] ?? {};
  useEffect(() => {
    if (url === undefined) return;
    let isCurrent = true;
    // Most ads have none, so their parser is not part of the first load. Without it, the ad plays without captions.
    Promise.all([fetchCaptions(url), import("@intermission/ad-core/captions")])
      .then(([file, { parseCues }]) => {
        const { cues } = parseCues(file ?? "", plainText);
        if (isCurrent && cues.length > 0) setShown({ language, cues });
      })
      .catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [url, language]);
  return shown;
}

/** Without tags, and with all character references of HTML resolved. A parsed document runs no script and loads nothing. */
function plainText(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").documentElement.textContent ?? "";
}

/** The current caption, above the lower third of the picture, which belongs to the call to action. */
export function Caption({ captions, positionMs }: { captions: ShownCaptions; positionMs: number }) {
  const text = captionAt(captions.cues, positionMs);
  return text ? (
    <p className="caption" lang={captions.language}>
      <span>{text}</span>
    </p>
  ) : null;
}

/** The caption at a position of the video; simultaneous cues are on separate lines. */
export function captionAt(cues: readonly CaptionCue[], positionMs: number): string {
  const current = cues.filter(({ fromMs, toMs }) => fromMs <= positionMs && positionMs < toMs);
  return current.map(({ text }) => text).join("\n");
}

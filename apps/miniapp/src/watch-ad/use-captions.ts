import { type CaptionCue, parseCaptions } from "@intermission/ad-core/captions";
import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { useEffect, useState } from "react";
import { fetchCaptions } from "../ad-service-client.ts";
import { chooseCaptions } from "./choose-captions.ts";

export interface ShownCaptions {
  readonly language: string;
  readonly cues: readonly CaptionCue[];
}

/**
 * The ad's captions, once loaded. The app draws them instead of the browser: a `<track>` would make the video itself load
 * with CORS when the app is on another origin, and would be covered by the controls.
 */
export function useCaptions({ captions }: AdForPlayer, viewerLanguage: string): ShownCaptions | undefined {
  const chosen = chooseCaptions(captions, viewerLanguage);
  const [shown, setShown] = useState<ShownCaptions>();
  const { url, language } = chosen ?? {};
  useEffect(() => {
    if (url === undefined || language === undefined) return;
    let isCurrent = true;
    fetchCaptions(url).then((file) => {
      const { cues } = parseCaptions(file ?? "");
      if (isCurrent && cues.length > 0) setShown({ language, cues });
    });
    return () => {
      isCurrent = false;
    };
  }, [url, language]);
  return shown;
}

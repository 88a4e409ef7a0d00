import { type CaptionCue, parseCaptions } from "@intermission/ad-core/captions";
import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { useEffect, useState } from "react";
import { fetchCaptions } from "../ad-service-client.ts";

type OfferedCaptions = NonNullable<AdForPlayer["captions"]>[number];

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

/** The current caption, above the lower third of the picture, which belongs to the call to action. */
export function Caption({ captions, positionMs }: { captions: ShownCaptions; positionMs: number }) {
  const text = captionAt(captions.cues, positionMs);
  return text ? (
    <p className="caption" lang={captions.language} dir="auto">
      <span>{text}</span>
    </p>
  ) : null;
}

/** Captions in the viewer's language, else English, else the first: any captions help viewers who cannot hear. */
export function chooseCaptions(offered: AdForPlayer["captions"], language: string): OfferedCaptions | undefined {
  const spoken = (language: string) => offered?.find((captions) => captions.language.split("-")[0] === language);
  return spoken(language) ?? spoken("en") ?? offered?.[0];
}

/** The caption at a position of the video; simultaneous cues are on separate lines. */
export function captionAt(cues: readonly CaptionCue[], positionMs: number): string {
  const current = cues.filter(({ fromMs, toMs }) => fromMs <= positionMs && positionMs < toMs);
  return current.map(({ text }) => text).join("\n");
}

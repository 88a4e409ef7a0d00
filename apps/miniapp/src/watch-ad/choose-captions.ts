import type { AdForPlayer } from "@intermission/ad-core/player-api";

type Captions = NonNullable<AdForPlayer["captions"]>[number];

/** Captions in the viewer's language, else English, else the first: any captions help viewers who cannot hear. */
export function chooseCaptions(offered: AdForPlayer["captions"], language: string): Captions | undefined {
  const spoken = (language: string) => offered?.find((captions) => captions.language.split("-")[0] === language);
  return spoken(language) ?? spoken("en") ?? offered?.[0];
}

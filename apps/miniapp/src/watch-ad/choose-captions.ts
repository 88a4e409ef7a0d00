import type { AdForPlayer } from "@intermission/ad-core/player-api";

type Captions = NonNullable<AdForPlayer["captions"]>[number];

/** Those in the viewer's language; else in English, else the first: any help who cannot hear. */
export function chooseCaptions(offered: AdForPlayer["captions"], language: string): Captions | undefined {
  const spoken = (language: string) => offered?.find((captions) => captions.language.split("-")[0] === language);
  return spoken(language) ?? spoken("en") ?? offered?.[0];
}

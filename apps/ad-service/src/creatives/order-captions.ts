import type { Captions } from "@intermission/operator-api/creatives";

/**
 * The captions with the best for this viewer first, the others after them: those in the viewer's first language that has
 * some, else English, else the first, because any captions help viewers who cannot hear. Of one language the viewer's script
 * comes first, because not everybody reads another one; then the same tag, the tag without its last parts (lookup of
 * RFC 4647), one without a region, any.
 */
export function orderCaptions<Offered extends Pick<Captions, "language">>(
  offered: readonly Offered[],
  viewerLanguages: readonly string[],
): readonly Offered[] {
  if (offered.length < 2) return offered;
  const candidates = offered.map((captions) => ({ captions, locale: localeOf(captions.language) }));
  for (const preferred of [...viewerLanguages.slice(0, MAX_LANGUAGES), "en"].map(localeOf)) {
    if (!preferred) continue;
    const spoken = candidates.filter(({ locale }) => locale?.language === preferred.language);
    const readable = spoken.filter(({ locale }) => locale?.script === preferred.script);
    const known = readable.length > 0 ? readable : spoken;
    const tags = preferred.tags.map((tag) => known.find(({ locale }) => locale?.tags[0] === tag));
    const best = tags.find(Boolean) ?? known.find(({ locale }) => locale?.region === undefined) ?? known[0];
    if (best) return [best.captions, ...offered.filter((captions) => captions !== best.captions)];
  }
  return offered;
}

interface Locale {
  /** `zh-Hant-TW`, `zh-Hant`, `zh`. */
  readonly tags: readonly string[];
  readonly language: string;
  /** `Hant` for `zh-TW`. */
  readonly script: string | undefined;
  readonly region: string | undefined;
}

/** A client may send thousands of languages, of thousands of parts. */
const MAX_LANGUAGES = 20;
const MAX_PARTS = 4;

/** Reads what clients write: `pt_BR`, `zh-hans`, the old `iw` for `he`; of `en-raw`, which is no tag, the beginning. */
function localeOf(text: string): Locale | undefined {
  const parts = text.split(/[-_]/, MAX_PARTS);
  for (let length = parts.length; length > 0; length--) {
    try {
      const { baseName, language, region } = new Intl.Locale(parts.slice(0, length).join("-"));
      const { script } = new Intl.Locale(baseName).maximize();
      // `no` is mostly written in the norm nb. Speakers of nn read it, too.
      const subtags = baseName.replace(/^nb\b/, "no").split("-");
      const tags = subtags.map((_, index) => subtags.slice(0, subtags.length - index).join("-"));
      return { tags, language: language === "nb" || language === "nn" ? "no" : language, script, region };
    } catch {
      // Not a tag of BCP 47.
    }
  }
  return undefined;
}

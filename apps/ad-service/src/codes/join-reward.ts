import type { NamedReward } from "@intermission/ad-core/client-api";
import { directionOf, type PageLanguage, pageLanguages } from "@intermission/ad-core/page-language";

/** Nominative: it follows a colon in most of the mini-app's texts. */
const places = {
  en: "a place in {title}",
  ru: "место в «{title}»",
  uk: "місце в «{title}»",
  es: "un lugar en {title}",
  pt: "um lugar em {title}",
  ar: "مكان في {title}",
  fa: "عضویت در {title}",
  hi: "{title} में जगह",
  id: "tempat di {title}",
  tr: "{title} için bir yer",
  uz: "«{title}» aʼzoligi",
  de: "ein Platz in „{title}“",
  fr: "une place dans « {title} »",
  vi: "một chỗ trong {title}",
  it: "un posto in {title}",
} satisfies Record<PageLanguage, string>;

/** As long as the longest unit of a bot's settings. */
const MAX_TITLE_LENGTH = 32;

/** What a view earns that lets its viewer into a channel or group: words that name it, without a number before them. */
export function joinReward(title: string): NamedReward {
  const short = shorten(title);
  const unit = pageLanguages.map((language) => {
    const place = places[language].replace("{title}", () => isolated(short, language));
    // A page that does not know `whole` says "1 a place in …".
    return [language, { whole: place, other: place }];
  });
  return { amount: 1, unit: Object.fromEntries(unit) };
}

/** Whole characters as people see them, such as flags. */
function shorten(title: string): string {
  const characters = Array.from(new Intl.Segmenter().segment(title), ({ segment }) => segment);
  return characters.length > MAX_TITLE_LENGTH ? `${characters.slice(0, MAX_TITLE_LENGTH - 1).join("")}…` : title;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** A title of the other direction must not reorder the words around it. */
function isolated(title: string, language: PageLanguage): string {
  const isOther = RIGHT_TO_LEFT.test(title) !== (directionOf(language) === "rtl");
  return isOther ? `\u2068${title}\u2069` : title;
}

import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import { type VastReasonTexts, vastReasonsInEnglish } from "@intermission/operator-api/vast-reasons-in-english";
import { errorClassWords } from "../words/error-class-words.ts";
import type { Language } from "../words/languages.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Whether the detail is what another program said: of the others it is a sentence of this service's, in English. */
const isQuoted: Readonly<Record<RequestErrorClass, boolean>> = {
  dns: true,
  refused: true,
  reset: true,
  tls: true,
  "timeout-connect": false,
  "timeout-total": false,
  "blocked-address": false,
  redirect: false,
  protocol: true,
  "too-large": false,
};

const vastReasonsInRussian: VastReasonTexts = {
  "no-ad": () => "в теге нет рекламы",
  "too-slow": ({ milliseconds }) => `ничего за ${milliseconds} мс`,
  "too-many-requests": ({ max }) => `запросов больше ${max}`,
  "too-many-redirects": ({ max }) => `перенаправлений больше ${max}`,
  "too-many-wrappers": ({ max }) => `обёрток больше ${max}`,
  "redirect-without-address": () => "перенаправление без адреса",
  "no-answer": ({ errorClass, detail }) =>
    `${errorClassWords.ru[errorClass]}${isQuoted[errorClass] ? ` (${detail})` : ""}`,
  status: ({ status }) => `ответ ${status}`,
  "no-content": () => "ответ без содержимого",
  blank: () => "пустой ответ",
  "too-large": ({ maxBytes }) => `больше ${maxBytes / KIB} КиБ`,
  incomplete: ({ maxBytes }) => `больше ${maxBytes / KIB} КиБ, или ответ оборвался`,
  "all-too-large": ({ maxBytes }) => `все документы вместе больше ${maxBytes / MIB} МиБ`,
  "address-too-long": ({ max }) => `адрес тега длиннее ${max} символов`,
  "unknown-encoding": ({ encoding }) => `неизвестное кодирование содержимого: ${encoding}`,
  "invalid-encoding": ({ encoding }) => `ответ — не ${encoding}`,
  json: () => "ответ — JSON, а не XML",
  "html-page": () => "ответ — страница HTML",
  doctype: () => "DOCTYPE не принимается",
  "too-many-elements": ({ max }) => `элементов больше ${max}`,
  "too-deep": ({ max }) => `вложенность элементов больше ${max}`,
  "too-many-attributes": ({ max }) => `у элемента больше ${max} атрибутов`,
  malformed: ({ detail }) => `неверный XML: ${detail}`,
  vmap: () => "документ — список VMAP: возьмите адрес одной из его реклам",
  "other-root": ({ root }) => `документ — <${root}>`,
  version: ({ version }) => `VAST ${version}`,
  "neither-inline-nor-wrapper": () => "Ad без InLine и без Wrapper",
  "wrapper-forbidden": () => "обёртка ведёт к другой, хотя запрещает это",
  "wrapper-without-address": () => "обёртка без адреса",
  "blocked-category": ({ category }) => `реклама категории ${category}, которую обёртка запрещает`,
  "companion-required": ({ required }) =>
    required === "all" ? "нужны все компаньоны, а показать можно одного" : "нужен компаньон, который показать нельзя",
  "no-creative": () => "за обёртками нет креатива",
  "no-linear": () => "нет линейного видео",
  "no-media-file": () => "у видео нет файлов",
  "no-playable-file": () => "нет файла, который играют телефоны",
  "no-duration": () => "у видео нет верной длительности",
  duration: ({ milliseconds }) => `видео длится ${milliseconds / 1000} с`,
};

/** Why a request of a tag, or the tag, led to no ad. */
export const vastReasonWords = { en: vastReasonsInEnglish, ru: vastReasonsInRussian } satisfies Record<
  Language,
  VastReasonTexts
>;

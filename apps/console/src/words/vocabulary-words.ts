import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import type { ListedDelivery } from "@intermission/operator-api/deliveries";
import type { ClickSuspicion, ViewSuspicion } from "@intermission/operator-api/reviews";
import type { NoAdReason } from "@intermission/operator-api/statistics";
import {
  deliveryStatesInEnglish,
  errorClassesInEnglish,
  noAdReasonsInEnglish,
  suspicionsInEnglish,
} from "@intermission/operator-api/words-in-english";
import type { Language } from "./word-table.ts";

/** Texts of closed lists that several screens show. */

/** Why requests got no ad. */
export const noFillWords = {
  en: noAdReasonsInEnglish,
  ru: {
    "no-campaign": "ни одна кампания не идёт",
    "none-fits": "ни одна кампания не подходит боту или пользователю",
  },
} satisfies Record<Language, Record<NoAdReason, string>>;

/** Of a delivery. */
export const deliveryWords = {
  en: deliveryStatesInEnglish,
  ru: {
    waiting: "ждёт",
    sending: "в пути",
    delivered: "доставлено",
    failed: "не доставлено",
    held: "задержано",
    unknown: "исход неизвестен",
  },
} satisfies Record<Language, Record<ListedDelivery["state"], string>>;

export const suspicionWords = {
  en: suspicionsInEnglish,
  ru: {
    "mostly-hidden": "реклама была почти всё время скрыта",
    "no-frames": "не показано ни одного кадра",
    "too-many-frames": "кадров больше, чем в видео",
    "faster-than-time": "быстрее реального времени",
    "too-even": "отчёты ровные, как у программы",
    "too-few-calls": "слишком мало отчётов",
    "many-users-of-one-address": "много пользователей с одного адреса",
    "crowded-network": "перегруженная сеть",
    "many-users-of-one-agent": "много пользователей с одним браузером",
    "mostly-taps": "почти одни нажатия",
    "right-after-issue": "сразу после выдачи кода",
    "address-changed": "адрес сменился перед нажатием",
    "tap-unconfirmed": "нажатие не подтверждено",
  },
} satisfies Record<Language, Record<ViewSuspicion | ClickSuspicion, string>>;

/** Why a request has no valid answer. */
export const errorClassWords = {
  en: errorClassesInEnglish,
  ru: {
    dns: "имя не найдено",
    refused: "в соединении отказано",
    reset: "соединение оборвалось",
    tls: "нет доверенного TLS",
    "timeout-connect": "нет соединения вовремя",
    "timeout-total": "нет ответа вовремя",
    "blocked-address": "адрес не публичный",
    redirect: "перенаправление",
    protocol: "это не HTTP",
    "too-large": "ответ слишком велик",
  },
} satisfies Record<Language, Record<RequestErrorClass, string>>;

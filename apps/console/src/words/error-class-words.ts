import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import { errorClassesInEnglish } from "@intermission/operator-api/error-classes-in-english";
import type { Language } from "./word-table.ts";

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

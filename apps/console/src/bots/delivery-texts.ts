import {
  type AdviceCode,
  type AttemptAnswer,
  adviceCodeOf,
  adviseOnAnswer,
  isErrorClass,
} from "@intermission/ad-core/delivery-advice";
import { refusalOfAnswer, type WebhookRefusal, type WrongSignatureCause } from "@intermission/ad-core/webhook-refusal";
import { errorClassWords } from "../words/error-class-words.ts";
import type { Language } from "../words/word-table.ts";

/** The status of an answer, or why there is none. */
export function resultText(
  language: Language,
  { status, errorClass }: { status: number | null; errorClass: string | null },
): string {
  if (status !== null) return String(status);
  if (errorClass === null) return "–";
  return isErrorClass(errorClass) ? errorClassWords[language][errorClass] : errorClass;
}

/** What to check when a receiver answers like this; undefined when all is well. */
export function adviceText(language: Language, answer: AttemptAnswer): string | undefined {
  if (language === "en") return adviseOnAnswer(answer, "publisher");
  const code = adviceCodeOf(answer);
  if (code === undefined) return undefined;
  const refusal = code === "401" && answer.text !== null ? refusalOfAnswer(answer.text) : undefined;
  return refusal === undefined ? russian[code] : `Получатель отвечает: ${inRussian(refusal)}.`;
}

const russian: Record<AdviceCode, string> = {
  400: "Получатель не понял запрос: он должен принимать JSON методом POST и не обращать внимания на незнакомые поля.",
  401: "Получатель не принял подпись. Дайте ему действующий API-токен бота, проверяйте подпись по исходным байтам, до разбора тела, и сверьте часы его машины (NTP).",
  403: "Запросы что-то отклоняет: проверка подписи, файрвол или защита от ботов перед получателем. Пропустите POST по этому пути.",
  404: "По этому пути ничего нет: сравните адрес вебхука с маршрутом получателя.",
  405: "Маршрут не принимает POST: сравните адрес вебхука с маршрутом получателя.",
  410: "Получатель сообщает, что его больше нет; через час таких ответов вебхуки отключаются. Проверьте маршрут.",
  411: "Получатель или прокси перед ним ждёт другой запрос; Content-Length отправляется.",
  413: "Предел размера тела перед получателем слишком мал: разрешите 64 кБ.",
  415: "Получатель должен принимать Content-Type: application/json.",
  429: "Получателю слишком много запросов: поднимите его предел или отправляйте меньше одновременно.",
  502: "Прокси не может достучаться до получателя: запустите получателя и посмотрите журнал прокси.",
  503: "Получатель или прокси перед ним перегружен или на обслуживании: посмотрите журнал.",
  504: "Прокси не дождался ответа получателя: сначала отвечайте, а долгую работу делайте потом.",
  dns: "Имя из адреса вебхука не находится: проверьте написание и записи DNS.",
  refused: "По адресу вебхука никто не слушает, или мешает файрвол: запустите получателя и проверьте порт.",
  reset: "Получатель оборвал соединение: посмотрите его журнал, а также прокси и файрвол перед ним.",
  tls: "Сертификат недействителен, выдан на другое имя или отправлен без промежуточных: обновите его.",
  "timeout-connect": "Соединение не устанавливается: проверьте файрвол и порт.",
  "timeout-total":
    "Получатель отвечает слишком долго: сохраните событие, ответьте 2xx за 15 с, а долгую работу делайте потом.",
  "blocked-address": "Адрес не публичный. Если так и задумано, оператор разрешает его в WEBHOOK_ALLOWED_NETWORKS.",
  redirect:
    "Адрес перенаправляет, а вебхуки не следуют за перенаправлениями: укажите конечный адрес. Если это страница входа, откройте путь вебхука без входа.",
  protocol: "Ответ — не HTTP/1.1: проверьте, что на этом порту веб-сервер и нужен ли TLS.",
  "too-large": "Заголовки ответа слишком велики: отвечайте простым 200.",
  unknown: "Исход неизвестен: сервис рекламы в это время отказал. Посмотрите, есть ли событие в вашем журнале.",
  "no-answer": "Верного ответа не было: посмотрите журнал получателя.",
  "without-tls":
    "На этом порту нет TLS, а адрес вебхука начинается с https://: нужен адрес прокси, у которого есть сертификат.",
  "not-modified": "Получатель отвечает 304, а это ответ на вопрос, изменилось ли что-то: отвечайте 2xx.",
  "cloudflare-no-answer":
    "Cloudflare не достучался до вашего сервера или не дождался ответа: запустите получателя и пропустите адреса Cloudflare через файрвол.",
  "cloudflare-certificate":
    "Cloudflare не принимает сертификат вашего сервера: поставьте действующий или смените режим шифрования зоны.",
  "cloudflare-no-way":
    "У Cloudflare нет пути к вашему серверу: запустите туннель (cloudflared) и проверьте запись DNS.",
  "failed-status": "Получатель отказал: посмотрите его журнал.",
  "refused-status": "Получатель не принял запрос: посмотрите его журнал.",
};

const wrongSignature: Record<WrongSignatureCause, string> = {
  unknown: "X-Signature не подходит к телу: у получателя другой токен, или тело изменилось до проверки",
  "changed-body": "X-Signature подходит к отправленному телу, но не к проверенным байтам: проверяйте исходные байты",
  "empty-body": "тело пусто: что-то прочло его раньше. Проверяйте исходные байты, до разбора",
  "another-token": "X-Signature сделана токеном, которого у получателя нет: добавьте ему новейший токен бота",
  "another-bot": "X-Signature сделана токеном, который у получателя записан за другим ботом",
  "unlisted-bot": "у получателя нет токена для этого бота: добавьте id бота и его API-токен",
  "no-token": "у получателя нет токена: дайте ему действующий API-токен бота",
  "padded-token": "вокруг токена получателя лишние пробелы, переводы строк или кавычки: уберите их",
};

function inRussian(refusal: WebhookRefusal): string {
  switch (refusal.fault) {
    case "missing-signature":
      return "нет заголовка X-Signature: запрос — не вебхук, или заголовок убрал прокси";
    case "malformed-signature":
      return "X-Signature записана неверно: нужно sha256= и 64 шестнадцатеричные цифры";
    case "wrong-signature":
      return wrongSignature[refusal.cause];
    case "wrong-webhook-signature":
      return "заголовки webhook-id, webhook-timestamp и webhook-signature потеряны или изменены, например прокси";
    case "stale":
      return `подпись верна, но по его часам вебхук отправлен ${refusal.seconds} с назад: сверьте часы (NTP)`;
    case "future":
      return `подпись верна, но по его часам вебхук отправлен на ${refusal.seconds} с в будущем: сверьте часы (NTP)`;
    default:
      return refusal satisfies never;
  }
}

import { type AttemptAnswer, adviceCodeOf, explainedBy } from "@intermission/ad-core/advice-code";
import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import { type AdviceCode, publisherAdvice } from "@intermission/ad-core/publisher-advice";
import {
  describeRefusal,
  refusalOfAnswer,
  type WebhookRefusal,
  type WrongSignatureCause,
} from "@intermission/ad-core/webhook-refusal";
import type { Language } from "../words/languages.ts";

/** What to check when a receiver answers like this; undefined when all is well. */
export function adviceText(language: Language, answer: AttemptAnswer): string | undefined {
  const code = adviceCodeOf(answer);
  if (code === undefined) return undefined;
  const refusal = code === "401" && answer.text !== null ? refusalOfAnswer(answer.text) : undefined;
  const advice = advices[language][code];
  const words = explainedBy(answer, code);
  if (language === "ru") {
    if (refusal !== undefined) return `Получатель отвечает: ${inRussian(refusal)}.`;
    return words === undefined ? advice : `Получатель отвечает: «${words}». ${advice}`;
  }
  if (refusal !== undefined) return `The receiver answers: ${describeRefusal(refusal, "the receiver's machine")}.`;
  return words === undefined ? advice : `The receiver says "${words}". ${advice}`;
}

/** What to do about a receiver that answers 2xx. */
export function warningText(language: Language, warning: ReceiverWarning): string {
  return advices[language][warning];
}

const chain = "openssl s_client -connect <имя>:443 -servername <имя> -showcerts </dev/null";
const certificate = "openssl s_client -connect <имя>:443 -servername <имя> </dev/null | openssl x509 -noout";

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
    "На этом порту нет TLS, а адрес вебхука начинается с https://: нужен адрес прокси, у которого есть сертификат. Проверка: curl -v https://<имя>/",
  "not-modified": "Получатель отвечает 304, а это ответ на вопрос, изменилось ли что-то: отвечайте 2xx.",
  "cloudflare-no-answer":
    "Cloudflare не достучался до вашего сервера или не дождался ответа: запустите получателя и пропустите адреса Cloudflare через файрвол.",
  "cloudflare-certificate":
    "Cloudflare не принимает сертификат вашего сервера: поставьте действующий или смените режим шифрования зоны.",
  "cloudflare-no-way":
    "У Cloudflare нет пути к вашему серверу: запустите туннель (cloudflared) и проверьте запись DNS.",
  "login-wanted":
    "Получатель или прокси перед ним просит войти (WWW-Authenticate), а вебхуки этого не умеют: откройте путь вебхука без входа. Его защищает подпись.",
  "ngrok-offline":
    "Туннель ngrok не запущен: запустите ngrok и сравните адрес вебхука с тем, который он показывает. Для работы нужен сервер с постоянным адресом.",
  "ngrok-without-upstream":
    "Туннель ngrok работает, но за ним никто не отвечает: запустите получателя и сравните его порт с портом команды (ngrok http <порт>).",
  "ngrok-refused":
    "Вместо получателя отвечает ngrok, чаще всего из-за предела или правила учётной записи: найдите код ошибки на ngrok.com/docs/errors.",
  "cloudflare-tunnel-down":
    "Cloudflare Tunnel не подключён: запустите cloudflared и сравните адрес вебхука с именем туннеля. У быстрого туннеля (trycloudflare.com) при каждом запуске новое имя.",
  "cloudflare-without-upstream":
    "Cloudflare или cloudflared вашего туннеля не достучался до получателя: запустите его и сравните порт с адресом туннеля (cloudflared tunnel --url http://localhost:<порт>).",
  "cloudflare-name": "Cloudflare не находит имя вашего сервера: исправьте запись DNS зоны.",
  "cloudflare-blocks":
    "Cloudflare не пропускает запросы сервиса рекламы: по правилу или как бота. Добавьте правило файрвола, которое пропускает путь вебхука.",
  "tunnel-down":
    "Туннель не подключён: запустите его программу и сравните адрес вебхука с тем, который она показывает.",
  "not-configured": "Получатель не настроен: задайте то, что он называет, и запустите его снова.",
  "tls-self-signed": `Сертификат самоподписанный: получите сертификат публичного центра, например Let's Encrypt. Кто его выдал: ${certificate} -subject -issuer`,
  "tls-private-authority": `Сертификат выдан частным центром или файрволом, который разбирает TLS: получите сертификат публичного центра. Цепочка: ${chain}`,
  "tls-incomplete-chain": `Сервер отправляет сертификат без промежуточных: укажите полную цепочку (fullchain.pem, а не cert.pem). Браузеры этого не показывают; цепочка: ${chain}`,
  "tls-wrong-name": `Сертификат выдан на другое имя: получите его для этого имени или исправьте адрес. Имена в нём: ${certificate} -ext subjectAltName`,
  "tls-expired": `Срок сертификата истёк: обновите его и перезапустите сервер, который его использует. Срок: ${certificate} -dates`,
  "tls-not-yet-valid": `Сертификат ещё не действует: подождите или сверьте часы машины, на которой он создан (NTP). Срок: ${certificate} -dates`,
  "tls-revoked": `Сертификат отозван: получите новый. Его номер: ${certificate} -serial -issuer`,
  "tls-version":
    "Сервер знает только старые версии TLS: включите в его настройках 1.2 и 1.3. Проверка: openssl s_client -connect <имя>:443 -servername <имя> -tls1_2 </dev/null",
  "tls-unknown-name":
    "Сервер не знает этого имени (SNI): добавьте его в прокси или исправьте адрес. Проверка: openssl s_client -connect <имя>:443 -servername <имя> </dev/null",
  "tls-client-certificate":
    "Сервер просит сертификат клиента, а у вебхуков его нет: откройте путь вебхука без него. Проверка: curl -v https://<имя>/",
  "html-answer":
    "В ответ приходит веб-страница: скорее всего, адрес ведёт на сайт, а не на получателя, и награды не начисляются. Сравните его с маршрутом; получатель отвечает пустым 200.",
  "negative-answer":
    "Ответ 2xx, а в тексте сказано, что не получилось: событие считается доставленным и больше не отправляется. На неверную подпись отвечайте 401, а если событие не сохранено — 500.",
  "wrong-signature-accepted":
    "По этому адресу отвечают 2xx и на событие с неверной подписью: подпись не проверяется, и награды может подделать любой, или там не ваш получатель. Проверяйте X-Signature по исходным байтам и отвечайте 401.",
  "failed-status": "Получатель отказал: посмотрите его журнал.",
  "refused-status": "Получатель не принял запрос: посмотрите его журнал.",
};

const advices: Record<Language, Readonly<Record<AdviceCode, string>>> = { en: publisherAdvice, ru: russian };

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

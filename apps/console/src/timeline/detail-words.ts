import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { EndReason } from "@intermission/operator-api/deliveries";
import type { CloseReason, StoredViewState } from "@intermission/operator-api/reviews";
import type {
  CountedRefusal,
  RequestRefusal,
  ReviewDecision,
  ViewerLimit,
  VisitRefusal,
} from "@intermission/operator-api/timeline";
import { type DetailTexts, timelineInEnglish } from "@intermission/operator-api/timeline-in-english";
import { errorClassWords } from "../words/error-class-words.ts";
import type { Language } from "../words/languages.ts";
import { deliveryWords, eventWords, noFillWords, suspicionWords } from "../words/vocabulary-words.ts";

const viewerLimits = {
  cooldown: "перерыв между двумя рекламами ещё не прошёл",
  "daily-cap": "награды пользователя на сегодня закончились",
} satisfies Record<ViewerLimit, string>;

const requestRefusals = {
  "init-data-invalid": "данные запуска не от Telegram",
  "init-data-without-user": "в данных запуска Telegram нет пользователя",
  "init-data-expired": "данные запуска Telegram устарели",
  "code-malformed": "это не код",
  "code-unknown": "такого кода нет",
  "code-expired": "срок кода истёк",
  "code-used": "награда за код уже получена",
  "code-of-another-user": "код другого пользователя",
  "bot-unknown": "такого бота нет",
  "bot-suspended": "бот приостановлен",
} satisfies Record<RequestRefusal, string>;

const closeReasons = {
  tap: "зрителем",
  "page-hidden": "зритель ушёл со страницы",
  "heartbeat-lost": "плеер замолчал",
  deadline: "время вышло",
  reopened: "код открыт снова",
} satisfies Record<CloseReason, string>;

const viewStates = {
  opened: "открыт",
  playing: "воспроизводится",
  watched: "досмотрен",
  rewarded: "награждён",
  held: "задержан",
  refused: "отклонён",
} satisfies Record<StoredViewState, string>;

const countedRefusals = {
  ...viewerLimits,
  hidden: "реклама была скрыта",
  "too-long": "отрезок длиннее допустимого",
  backwards: "отрезок кончается раньше, чем начался",
  "beyond-the-end": "отрезок за концом видео",
  "not-started": "воспроизведение ещё не началось",
  "after-close": "больше, чем воспроизведено до закрытия",
  "too-early": "быстрее реального времени",
  superseded: "от плеера, который заменил другой",
  "wrong-token": "без токена просмотра",
} satisfies Record<CountedRefusal, string>;

const playbackFaults = {
  "not-found": "видео не загрузилось",
  timeout: "видео слишком долго стояло",
  unsupported: "плеер не играет видео этого типа",
  "not-displayed": "видео загрузилось, но не показалось",
  "too-short": "видео кончилось намного раньше заявленного",
  other: "видео не сыграло",
} satisfies Record<PlaybackFault, string>;

const visitRefusals = {
  ...viewerLimits,
  used: "код уже привёл к своей рекламе",
  expired: "срок кода истёк",
  "bot-suspended": "бот приостановлен",
  "no-ad": "для пользователя нет рекламы",
  "address-limit": "слишком много кликов с одного адреса",
  "machine-head": "программа: запросила только заголовки",
  "machine-prefetch": "программа: браузер загружает страницы заранее",
  "machine-empty-agent": "программа: не называет себя",
  "machine-crawler": "программа: поисковый робот или другая известная",
  "machine-library": "программа: библиотека HTTP",
  "tap-asked-address": "запрошено нажатие: много кликов с одного адреса",
  "tap-asked-embedded": "запрошено нажатие: страница встроена в другую",
  "tap-asked-scripted": "запрошено нажатие: запрос сделал скрипт",
  "tap-asked-no-language": "запрошено нажатие: браузер не называет языка",
  "tap-asked-foreign-form": "запрошено нажатие: форма пришла с другой страницы",
  "tap-asked-no-token": "запрошено нажатие: в форме нет верного токена",
  "tap-asked-crawler-like": "запрошено нажатие: браузер похож на робота",
  "tap-asked-unknown-agent": "запрошено нажатие: неизвестный браузер",
} satisfies Record<VisitRefusal, string>;

const endReasons = {
  "attempts-used-up": "ни на одну попытку не ответили 2xx",
  "at-most-once": "вебхуки этого бота отправляются не больше одного раза",
  "held-too-long": "был задержан 30 дней",
  test: "тест отправляется один раз",
  erased: "данные пользователя удалены",
} satisfies Record<EndReason, string>;

const decisions = { released: "оператор: оплатить", refused: "оператор: отклонить" } satisfies Record<
  ReviewDecision,
  string
>;

const timelineInRussian: DetailTexts = {
  "valid-until": ({ at }, { dateTime }) => `действует до ${dateTime(at)}`,
  reference: ({ reference }) => `ссылка издателя ${reference}`,
  test: () => "тест: ничего не списывается",
  filled: () => "реклама нашлась",
  "no-ad": ({ reason }) => `рекламы нет: ${noFillWords.ru[reason]}`,
  limited: ({ reason }) => viewerLimits[reason],
  "request-refused": ({ reason }) => `отказано: ${requestRefusals[reason]}`,
  watched: ({ acceptedMs, durationMs }, { seconds }) =>
    `${seconds(acceptedMs / 1000)} из ${seconds(durationMs / 1000)}`,
  closed: ({ reason }) => closeReasons[reason],
  "not-closed": () => "ещё не закрыт",
  "view-state": ({ state }) => `состояние: ${viewStates[state]}`,
  suspicions: ({ suspicions }) => `подозрительно: ${suspicions.map((one) => suspicionWords.ru[one]).join(", ")}`,
  "reports-refused": ({ reason, count }, { number }) =>
    `отклонённых отчётов: ${number(count)} (${countedRefusals[reason]})`,
  "playback-fault": ({ fault }) => playbackFaults[fault],
  decision: ({ decision }) => decisions[decision],
  "visit-refused": ({ reason }) => visitRefusals[reason],
  event: ({ event }) => eventWords.ru[event],
  webhook: ({ state, endReason }) =>
    `вебхук: ${deliveryWords.ru[state]}${endReason === null ? "" : ` (${endReasons[endReason]})`}`,
  attempt: ({ attempt, isReplay }, { number }) => `попытка ${number(attempt)}${isReplay ? " (повтор)" : ""}`,
  answer: ({ status }) => `ответ ${status}`,
  "no-answer": ({ errorClass }) => errorClassWords.ru[errorClass],
  took: ({ milliseconds }, formats) => formats.milliseconds(milliseconds),
  conversion: ({ event }) => `событие ${event}`,
};

/** What a step says beside its name. */
export const detailWords = { en: timelineInEnglish, ru: timelineInRussian } satisfies Record<Language, DetailTexts>;

/** @type {typeof import("./panel-words-en.js").stepWords} */
export const stepWords = {
  code: "Бот получил код",
  tap: "Нажатие: открывается мини-приложение",
  requested: "Игра просит рекламу",
  shown: "show() ответил игре",
  session: "Сеанс открыт",
  noSession: "Сеанса нет",
  video: (length) => `видео ${length}`,
  resumed: (at) => `продолжение с ${at}`,
  firstFrame: "Первый кадр на экране",
  started: "Воспроизведение началось",
  report: "Отчёт",
  closed: { tap: "Закрыто нажатием", "page-hidden": "Страница закрылась" },
  claimed: (ranges) => `показано ${ranges}`,
  accepted: (sum) => `засчитано всего ${sum}`,
  tooEarly: (wait) => `отказ: быстрее часов; можно через ${wait}`,
  refusals: {
    hidden: "отказ: никто не смотрел",
    "not-in-view": "отказ: фрейм не на экране",
    "too-long": "отказ: слишком длинный отрезок",
    backwards: "отказ: отрезок задом наперёд",
    "beyond-the-end": "отказ: за концом видео",
    "not-started": "отказ: видео не начато",
  },
  refusedCall: (code) => `отказ: ${code}`,
  watched: "досмотрено до конца",
  fault: "Видео не воспроизводится",
  cheats: {
    seek: "Хитрость: перемотка в конец",
    "double-speed": "Хитрость: двойная скорость",
    hide: "Хитрость: видео шло без зрителя",
  },
  event: "Заработано: сервис записал событие",
  attempt: (number) => `Вебхук, попытка ${number}`,
  replay: (number) => `Вебхук, попытка ${number}, по просьбе`,
  underWay: "ждём ответа",
  next: (time) => `следующая попытка в ${time}`,
  ledger: "Журнал бота",
};

const plural = new Intl.PluralRules("ru");
const waiting = { one: "событие ждёт", few: "события ждут", many: "событий ждут", other: "события ждут" };

/** @type {typeof import("./panel-words-en.js").endpointWords} */
export const endpointWords = {
  none: "У бота нет адреса для вебхуков, его события отложены. Запустите с --webhook-url.",
  pending: (url) => `${url} ещё не принял проверку; она повторяется каждые 2 секунды.`,
  disabled: (url) => `${url} отключён.`,
  pauses: (url) => `${url} не справился, ему дана пауза.`,
  held: (count) => `${count} ${waiting[plural.select(count)]}.`,
  answered: (status) => `Ответ: ${status}.`,
  statuses: {
    401: "Ответ 401: сверяются ли исходные байты, с токеном бота?",
    404: "Ответ 404: верен ли путь?",
    405: "Ответ 405: нужен приём POST.",
  },
  errors: {
    dns: "Имя не находится в DNS.",
    refused: "Там никто не слушает: запущена ли ваша программа?",
    reset: "Соединение закрыто раньше времени.",
    tls: "Нет доверенного сертификата TLS.",
    "timeout-connect": "Нет соединения за 5 секунд.",
    "timeout-total": "Нет ответа за 15 секунд.",
    "blocked-address": "Этот адрес не разрешён.",
    redirect: "Там перенаправление, а по нему сервис не идёт.",
    protocol: "Там не HTTP.",
    "too-large": "Заголовки ответа слишком велики.",
  },
};

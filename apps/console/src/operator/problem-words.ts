import {
  type GeneralProblem,
  type ProblemCode,
  type ProblemValues,
  problems,
} from "@intermission/operator-api/problems";
import type { LocalText } from "./local-text.ts";

type ProblemTable = { readonly [Code in ProblemCode]: (values: ProblemValues<Code>) => string };

/** The server's refusals in the reader's language. A problem without a sentence does not compile. */
const problemWords = {
  en: {
    UPLOAD_UNFINISHED: ({ sent }) => `Only ${sent} bytes of the upload have arrived: send the rest first.`,
    PERSON_DISABLED: () => "This person may not sign in; enable the account first.",
    NOT_IMPERSONATING: () => "You see the console as yourself already.",
    CREATIVE_APPROVED: () => "The video is approved already: there is nothing to submit.",
    CREATIVE_IS_DRAFT: () => "Its advertiser has not submitted the video: only what was submitted is decided about.",
    LAST_SIGN_IN_METHOD: () => "This is your only way to sign in: add another way first.",
    LINKED_ALREADY: () => "This account is linked with a person already: unlink it there, or use another one.",
    REPORT_NAME_TAKEN: ({ name }) => `You have a saved report named ${name}: choose another name, or remove it.`,
    TOO_MANY_METHODS: () => "There are too many of them: remove one that is not used.",
    TOO_MANY_REPORTS: ({ max }) => `You have ${max} saved reports, which is the most: remove one.`,
    TOO_MANY_UPLOADS: ({ own, all }) =>
      `Unfinished uploads: ${own} of yours, ${all} of all people. Choose the file of one again to finish it, or wait a day until they are removed.`,
    ADVERTISER_EXISTS: ({ name }) =>
      `There is already an advertiser ${name}; names that differ only in case are the same.`,
    AT_MOST_ONCE: () =>
      "This bot has its webhooks sent at most once: its receiver may pay twice for a repeated event. Send single ones again.",
    BEING_SENT: () => "A webhook of this user is being sent now; try again in a minute.",
    BOT_EXISTS: ({ botId }) => `There is already a bot ${botId}.`,
    CAMPAIGN_ARCHIVED: () => "The campaign is archived, which cannot be undone.",
    BOT_CHANGED: () =>
      "Nothing is saved: another person has changed this bot since you read it. Look at its values, then save again.",
    CAMPAIGN_CHANGED: () =>
      "Nothing is saved: another person has changed this campaign since you read it. Look at its values, then save again.",
    PASSKEY_NOT_ADDED: () => "The passkey was not accepted: add it again, or add another one.",
    PASSKEY_TOO_LATE: () => "It took too long: add the passkey again.",
    CREATIVE_CHANGED: ({ revision }) =>
      `The video has changed since: look at revision ${revision}, and decide about that.`,
    ENDPOINT_ACTIVE: () => "The webhook address is active already.",
    ENDPOINT_DISABLED: () => "The webhook address is disabled already.",
    HELD: () =>
      "Nothing is sent to this bot now: its webhook address is missing, being tested or disabled, or the bot has no active token.",
    LEDGER_HAS_ENTRIES: ({ stored, currency }) =>
      `The ledger has entries in ${stored}, which stay: use a deployment of its own for ${currency}.`,
    MONTH_NOT_OVER: ({ month }) => `${month} is not over, or its last charges have no entries yet: try again later.`,
    NAME_TAKEN: ({ name }) => `${name} is an advertiser of your own; rename it first.`,
    NEXT_TOKEN_EXISTS: ({ tokenId }) =>
      `${tokenId} waits to be activated; activate or revoke it before you make another.`,
    NO_ENDPOINT: () => "The bot has no webhook address.",
    NO_TOKEN: () => "The bot has no active API token, which signs its webhooks.",
    NO_VIDEO: () => "The campaigns of the sample show a copy of a video, and there is no approved one. Add one first.",
    NOT_CHARGED: () => "It was not charged, so there is nothing to refund.",
    NOT_HELD: ({ state }) => `It is ${state} already: only a held one can be released or refused.`,
    NOT_KEPT: ({ since }) => `Its webhook is no longer kept: only those of events since ${since} are.`,
    NOTHING_OWED: ({ month }) => `Nothing is owed until the end of ${month}.`,
    AMOUNT_NOT_OWED: ({ owed, currency }) =>
      `Nothing is recorded: ${owed} ${currency} are owed now, which is another amount than the one shown. Compare it with what you have paid.`,
    IDEMPOTENCY_KEY_REUSED: () =>
      "This was recorded already, with other values: its answer was lost. Close this window and look at what the list shows.",
    OWN_ACCOUNT: () => "You cannot do this to your own account: another owner can.",
    PAID: ({ until }) => `Everything until the end of ${until} is paid already; choose a later month.`,
    PERSON_EXISTS: () => "A person with this e-mail address exists already.",
    REFUNDED: () => "It was refunded before.",
    REVERSED: () => "This conversion was reversed before.",
    SAMPLE: () => "A bot of the sample gets no API token. Add a bot of your own.",
    SAMPLE_IN_USE: ({ name }) => `${name} uses something of the sample. Change that first.`,
    SAMPLE_REMOVING: () => "The sample is being removed. Finish that first.",
    TERMS_CHANGED: () =>
      "Nothing is saved: another person has changed the terms since you opened them. Close this window and open it again.",
    TEST_EVENT: () => "A test event is not sent again. Send another test.",
    TEST_UNDER_WAY: () => "A test is under way; try again in a few seconds.",
    TOKEN_NOT_NEXT: ({ state }) => `The token is ${state}; only the next one can be activated.`,
    TOKEN_REVOKED: () => "The token is revoked already.",
    UNDER_WAY: () => "The webhook is being sent now; look at its outcome in a moment.",
  },
  ru: {
    UPLOAD_UNFINISHED: ({ sent }) => `Загружено только ${sent} байт: сначала отправьте остальное.`,
    PERSON_DISABLED: () => "Этому человеку вход закрыт; сначала откройте ему доступ.",
    NOT_IMPERSONATING: () => "Вы уже видите консоль от своего имени.",
    CREATIVE_APPROVED: () => "Видео уже одобрено: отправлять нечего.",
    CREATIVE_IS_DRAFT: () => "Рекламодатель ещё не отправил видео: решение принимается только об отправленном.",
    LAST_SIGN_IN_METHOD: () => "Это ваш единственный способ входа: сначала добавьте другой.",
    LINKED_ALREADY: () => "Эта учётная запись уже привязана к человеку: отвяжите её там или возьмите другую.",
    REPORT_NAME_TAKEN: ({ name }) => `У вас уже есть сохранённый отчёт ${name}: выберите другое имя или удалите его.`,
    TOO_MANY_METHODS: () => "Их слишком много: удалите тот, которым не пользуетесь.",
    TOO_MANY_REPORTS: ({ max }) => `У вас ${max} сохранённых отчётов, больше нельзя: удалите один.`,
    TOO_MANY_UPLOADS: ({ own, all }) =>
      `Незаконченных загрузок: ваших ${own}, всего ${all}. Выберите файл одной из них ещё раз, чтобы её закончить, или подождите день: потом они удаляются.`,
    ADVERTISER_EXISTS: ({ name }) =>
      `Рекламодатель ${name} уже есть; имена, которые различаются только регистром, одинаковы.`,
    AT_MOST_ONCE: () =>
      "Вебхуки этого бота отправляются не больше одного раза: получатель может заплатить дважды за повтор. Отправляйте их снова по одному.",
    BEING_SENT: () => "Вебхук этого пользователя сейчас отправляется; повторите через минуту.",
    BOT_EXISTS: ({ botId }) => `Бот ${botId} уже есть.`,
    CAMPAIGN_ARCHIVED: () => "Кампания в архиве, это не отменить.",
    BOT_CHANGED: () =>
      "Ничего не сохранено: кто-то изменил этого бота с тех пор, как вы его открыли. Посмотрите значения и сохраните снова.",
    CAMPAIGN_CHANGED: () =>
      "Ничего не сохранено: кто-то изменил эту кампанию с тех пор, как вы её открыли. Посмотрите значения и сохраните снова.",
    PASSKEY_NOT_ADDED: () => "Ключ доступа не принят: добавьте его ещё раз или добавьте другой.",
    PASSKEY_TOO_LATE: () => "Прошло слишком много времени: добавьте ключ доступа ещё раз.",
    CREATIVE_CHANGED: ({ revision }) => `Видео с тех пор изменилось: посмотрите версию ${revision} и решите о ней.`,
    ENDPOINT_ACTIVE: () => "Адрес вебхуков уже работает.",
    ENDPOINT_DISABLED: () => "Адрес вебхуков уже выключен.",
    HELD: () =>
      "Сейчас этому боту ничего не отправляется: адреса вебхуков нет, он проверяется или выключен, либо у бота нет рабочего токена.",
    LEDGER_HAS_ENTRIES: ({ stored, currency }) =>
      `В книге есть записи в ${stored}, они остаются: для ${currency} нужна отдельная установка.`,
    MONTH_NOT_OVER: ({ month }) =>
      `${month} ещё не закончился, или его последние списания не записаны: повторите позже.`,
    NAME_TAKEN: ({ name }) => `${name} уже есть среди ваших рекламодателей; сначала переименуйте его.`,
    NEXT_TOKEN_EXISTS: ({ tokenId }) =>
      `${tokenId} ждёт включения; включите или отзовите его, прежде чем создавать другой.`,
    NO_ENDPOINT: () => "У бота нет адреса вебхуков.",
    NO_TOKEN: () => "У бота нет рабочего токена API, которым подписываются вебхуки.",
    NO_VIDEO: () => "Кампании примера показывают копию видео, а одобренного видео нет. Сначала добавьте его.",
    NOT_CHARGED: () => "Оплаты не было, возвращать нечего.",
    NOT_HELD: ({ state }) => `Состояние уже ${state}: оплатить или отклонить можно только задержанное.`,
    NOT_KEPT: ({ since }) => `Этот вебхук уже не хранится: есть только вебхуки событий с ${since}.`,
    NOTHING_OWED: ({ month }) => `На конец ${month} ничего не причитается.`,
    AMOUNT_NOT_OWED: ({ owed, currency }) =>
      `Ничего не записано: сейчас причитается ${owed} ${currency}, а не показанная сумма. Сравните с тем, что вы выплатили.`,
    IDEMPOTENCY_KEY_REUSED: () =>
      "Это уже записано, с другими значениями: ответ потерялся. Закройте окно и посмотрите, что показывает список.",
    OWN_ACCOUNT: () => "Со своей учётной записью этого сделать нельзя: это может другой владелец.",
    PAID: ({ until }) => `Всё на конец ${until} уже выплачено; выберите месяц позже.`,
    PERSON_EXISTS: () => "Человек с такой почтой уже есть.",
    REFUNDED: () => "Деньги за это уже возвращены.",
    REVERSED: () => "Эта конверсия уже отменена.",
    SAMPLE: () => "Бот из примера не получает токен API. Добавьте своего бота.",
    SAMPLE_IN_USE: ({ name }) => `${name} использует что-то из примера. Сначала измените это.`,
    SAMPLE_REMOVING: () => "Пример удаляется. Сначала завершите это.",
    TERMS_CHANGED: () =>
      "Ничего не сохранено: кто-то изменил условия с тех пор, как вы их открыли. Закройте это окно и откройте снова.",
    TEST_EVENT: () => "Проверочное событие повторно не отправляется. Отправьте другую проверку.",
    TEST_UNDER_WAY: () => "Проверка уже идёт; повторите через несколько секунд.",
    TOKEN_NOT_NEXT: ({ state }) => `Состояние токена: ${state}; включить можно только следующий.`,
    TOKEN_REVOKED: () => "Токен уже отозван.",
    UNDER_WAY: () => "Вебхук сейчас отправляется; посмотрите результат чуть позже.",
  },
} satisfies Record<keyof LocalText, ProblemTable>;

/** Refusals of any route, of which the server's own sentence says more in English. */
const generalWords = {
  ADDRESS_TOO_LONG: "Адрес запроса слишком длинный.",
  BAD_REQUEST: "Запрос составлен неверно.",
  BODY_TOO_LARGE: "Это слишком велико.",
  CONFIRMATION_NEEDED: "Это нужно подтвердить.",
  FORBIDDEN: "У вас нет на это права.",
  INTERNAL: "На сервере что-то сломалось. Повторите; если не поможет, сообщите оператору.",
  METHOD_NOT_ALLOWED: "Сервер не знает такого запроса. Откройте консоль заново.",
  NOT_FOUND: "Этого нет, или это уже удалено.",
  NO_SESSION: "Для этого нужно войти в консоль.",
  OTHER_ORIGIN: "Запрос пришёл не со страницы консоли. Откройте консоль заново.",
  READ_ONLY: "Вы смотрите консоль от имени другого человека, и менять ничего нельзя. Сначала завершите просмотр.",
  REQUEST_TIMEOUT: "Запрос шёл слишком долго. Повторите, когда связь будет лучше.",
  SIGNED_OUT: "Вход закончился. Войдите снова.",
  SIGN_IN_AGAIN: "Для этого нужно войти ещё раз: вход был больше десяти минут назад.",
  STORAGE_FULL: "На сервере кончилось место, ничего не сохранено. Сообщите оператору.",
  STORAGE_UNWRITABLE: "Сервер не может записать файл, ничего не сохранено. Сообщите оператору.",
  TOO_MANY_REQUESTS: "Слишком много запросов. Подождите минуту.",
  UNAUTHORIZED: "Токен не подходит.",
  UNAVAILABLE: "Сервис сейчас не может ответить. Повторите чуть позже.",
  UNSUPPORTED_MEDIA_TYPE: "Сервер не принимает данные такого вида.",
} satisfies Record<GeneralProblem, string>;

/** Undefined: this version knows no such refusal, or it lacks a value; then the server's message is shown. */
export function problemTexts({
  code,
  values,
  message,
}: {
  code: string;
  values: Readonly<Record<string, string>>;
  message: string;
}): LocalText | undefined {
  if (isGeneral(code)) return { en: message, ru: generalWords[code] };
  if (!isProblem(code) || problems[code].some((name) => values[name] === undefined)) return undefined;
  const textIn = (language: keyof LocalText) => {
    // The values of this code were checked; a union of codes loses which they are.
    const sentence = problemWords[language][code] as (values: Readonly<Record<string, string>>) => string;
    return sentence(values);
  };
  return { en: textIn("en"), ru: textIn("ru") };
}

function isProblem(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}

function isGeneral(code: string): code is GeneralProblem {
  return Object.hasOwn(generalWords, code);
}

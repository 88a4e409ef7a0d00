import { type AmountFault, withPoint } from "@intermission/operator-api/amounts";
import { faultOfIssue } from "@intermission/operator-api/fault-of-issue";
import { type FieldFaultCode, type FieldFaultValues, fieldFaults } from "@intermission/operator-api/field-faults";
import type { z } from "zod";
import { fileWords } from "./file-words.ts";
import type { LocalText } from "./local-text.ts";

type FaultTable = { readonly [Code in FieldFaultCode]: (values: FieldFaultValues<Code>) => string };

/** How to write an amount; `write`: the amount that is meant, where that is clear. */
const amountHints = {
  en: {
    "other-form": () => "such as 12 or 0.002",
    "digit-groups": (write) => `write ${write}`,
    "decimal-comma": (write) => `write ${write}`,
    comma: (write) => `write ${write}, or ${withPoint(write)} for a decimal`,
    exponent: (write) => (write === "" ? "write all its digits" : `write ${write}`),
    currency: (write) => (write === "" ? "without a currency" : `write ${write}`),
    sign: (write) => (write === "" ? "not negative" : `write ${write}`),
    point: (write) => `write ${write}`,
    decimals: () => "with 6 decimals at most",
    "too-small": () => "leave it empty for none",
    zero: () => "it must be more than 0",
    "too-large": () => "this is more",
    "too-fine": () => "an amount as large as this has 2 decimals at most",
  },
  ru: {
    "other-form": () => "например 12 или 0.002",
    "digit-groups": (write) => `напишите ${write}`,
    "decimal-comma": (write) => `напишите ${write}`,
    comma: (write) => `напишите ${write}, а если это дробь — ${withPoint(write)}`,
    exponent: (write) => (write === "" ? "напишите все цифры" : `напишите ${write}`),
    currency: (write) => (write === "" ? "без валюты" : `напишите ${write}`),
    sign: (write) => (write === "" ? "без минуса" : `напишите ${write}`),
    point: (write) => `напишите ${write}`,
    decimals: () => "не больше 6 знаков после точки",
    "too-small": () => "если его нет, оставьте поле пустым",
    zero: () => "она должна быть больше нуля",
    "too-large": () => "это больше",
    "too-fine": () => "у такой большой суммы не больше 2 знаков после точки",
  },
} satisfies Record<keyof LocalText, Record<AmountFault, (write: string) => string>>;

function amountHint(language: keyof LocalText, fault: string, write: string): string {
  // The server may be newer, and know a fault more.
  return Object.hasOwn(amountHints[language], fault) ? amountHints[language][fault as AmountFault](write) : "";
}

/** What is wrong with a field, in the reader's language. A fault without a sentence does not compile. */
const faultWords = {
  en: {
    ...fileWords.en,
    LAST_VIDEO: () => "It is the campaign's last video: pause the campaign, or attach another first.",
    ROWS_AT_MOST: ({ max }) => `The report has more than ${max} rows: name fewer dimensions, or a shorter period.`,
    ADVERTISER_NEW: ({ similar }) =>
      `This makes a new advertiser with reports and a postback key of its own; there is already ${similar}.`,
    AMOUNTS_IN_CURRENCY: ({ stored, currency, running }) =>
      `All amounts, also those of the past, are then in ${currency} instead of ${stored}; no number is converted. Each node answers with ${running} until it is started again with CURRENCY=${currency}.`,
    BLOCKS_NOBODY: ({ name, similar }) =>
      `There is no advertiser ${name}, so this blocks nobody until one has that name.${similar === "" ? "" : ` There is ${similar}.`}`,
    CHANGED_SINCE: ({ setting }) => `${setting} was changed again since: this overwrites the later value.`,
    REFUNDS_CLICKS: ({ number, amount }) =>
      `Paid clicks that are refunded: ${number}. The advertisers get back ${amount}, and the publishers keep what was earned.`,
    REFUNDS_VIEWS: ({ number, amount }) =>
      `Paid views that are refunded: ${number}. The advertisers get back ${amount}, and the publishers keep what was earned.`,
    REFUSES_CLICKS: ({ number }) => `Held clicks that are refused for good, and earn nothing: ${number}.`,
    REFUSES_VIEWS: ({ number }) => `Held views that are refused for good, and earn nothing: ${number}.`,
    RELEASES_CLICKS: ({ number, amount }) =>
      `Held clicks that are paid: ${number}. Their events are sent to the publishers, and the campaigns are charged ${amount}.`,
    RELEASES_VIEWS: ({ number, amount }) =>
      `Held views that are paid: ${number}. Their events are sent to the publishers, and the campaigns are charged ${amount}.`,
    ENDS_NOW: ({ at }) => `${at} is in the past, so the campaign ends now.`,
    LIMIT_REACHED: ({ limit, used }) =>
      `The limit of ${limit} is not above the ${used} so far, so the campaign stops for good.`,
    LIMIT_REACHED_TODAY: ({ limit, used }) =>
      `The limit of ${limit} is not above the ${used} of today, so the campaign stops until midnight UTC.`,
    MACRO_UNKNOWN: ({ macro, macros }) => `${macro} is no macro and is sent as it stands; the macros are ${macros}.`,
    NEVER_RUNS: ({ at }) => `${at} is in the past, so the campaign never runs.`,
    REFERENCE_KNOWN: ({ reference, name }) =>
      `${reference} stands on a top-up of ${name} already; recorded again, it would count twice.`,
    TAG_WITHOUT_AD: ({ fault, code }) =>
      `The tag returned no ad that can be shown (${fault}, VAST error ${code}). While that lasts, its campaigns are passed over.`,
    ABOVE_TOTAL: () => "The limit of a day must not be above the total.",
    ADDRESS_FRAGMENT: () => "Leave out the part after #.",
    ADDRESS_NEEDS_HTTPS: () => "Must begin with https://",
    ADDRESS_SCHEME: () => "Must begin with https:// or http://",
    ADDRESS_USER_INFO: () => "Must not hold a user name or password.",
    ADVERTISER_ARCHIVED: ({ name }) => `${name} is archived: restore it first.`,
    ADVERTISER_CHARGED: () =>
      "The advertiser was charged for this campaign, which stays with it: rename the advertiser, or add another campaign.",
    ADVERTISER_UNKNOWN: () => "There is no such advertiser: add it first.",
    AMOUNT: ({ min, max, fault, write }) => `An amount from ${min} to ${max}: ${amountHint("en", fault, write)}.`,
    AT_LEAST: ({ min }) => `Must be ${min} or more.`,
    AT_MOST: ({ max }) => `Must be ${max} at most.`,
    CALL_TO_ACTION_NEEDS_ADDRESS: () => "A button beside the video needs a landing page.",
    CHANGE_NOTHING: () => "Change at least one setting.",
    CHARACTERS_AT_LEAST: ({ min }) => `Must have at least ${min} characters.`,
    CHARACTERS_AT_MOST: ({ max }) => `Must have at most ${max} characters.`,
    CONTROL_CHARACTERS: () => "Must not hold control characters.",
    COUNTRIES_UNKNOWN: () =>
      "No source of countries is configured: set COUNTRY_DATABASE or COUNTRY_HEADER, and start the ad service again.",
    COUNTRY_CODE: () => "A country is its ISO 3166 code in capitals, such as DE; the United Kingdom is GB.",
    CURRENCY_CODE: () => "A currency is its ISO 4217 code in capitals, such as EUR.",
    CURSOR: () => "This page of the list is gone: open the list again.",
    DIMENSIONS: () => "A report cannot be split in this way: choose other or fewer groups.",
    EMAIL: () => "Must be an e-mail address, such as ann@example.com.",
    EMPTY: () => "Must not be empty.",
    END_BEFORE_START: () => "The end must be after the start.",
    ENTRIES_AT_LEAST: ({ min }) => `At least ${min} must be named.`,
    ENTRIES_AT_MOST: ({ max }) => `At most ${max} can be named.`,
    HALF_CHARACTER: () => "Holds half of a character, such as of an emoji that was cut: write it again.",
    HEX_KEY: () => "Must be 8 hex digits, as the list shows them.",
    ID: () => "Must be an id, as the lists show it.",
    LANGUAGE_CODE: () => "A language is its ISO 639 code, such as en; Ukrainian is uk.",
    LINK_NEEDS_ADDRESS: () => "A campaign of direct links needs a landing page.",
    LINK_NEEDS_NO_VIDEO: () => "A campaign of direct links has a landing page and no video.",
    LIST: () => "Must be a list.",
    MICROS: ({ min, max }) => `Must be from ${min} to ${max} millionths of the currency.`,
    MISSING: () => "Is needed.",
    MOMENT: () => "Must be a date, such as 2026-01-31, or a date and a time.",
    MONTH: () => "Must be a month, such as 2026-03.",
    NAME_WORD: () => "Must be at most 32 small letters, digits and dashes.",
    NOT_AN_ADDRESS: () => "Is not an address: write it in full, as https://example.com/page.",
    NOT_FOR_PREPAID: () => "A prepaid advertiser has no credit limit.",
    NOT_FOR_ROLE: ({ role }) => `Must be empty for the role ${role}.`,
    NUMBER: () => "Must be a number.",
    OBJECT: () => "Has another form.",
    OF_LINKS_ONLY: () => "Is for direct links, and this campaign has only videos.",
    OF_VIDEOS_ONLY: () => "Is for videos, and this campaign has only direct links.",
    ONE_OF: ({ words }) => `Must be one of: ${words}.`,
    OPERATOR_ONLY: () => "Only the operator sets this, since it is shown beside the video without a review.",
    OTHER_ADDRESS_NEEDED: () => "Must be another address than the bot's webhook.",
    PERIOD_TOO_LONG: ({ days }) => `Must be at most ${days} days before the end.`,
    PLURAL_FORMS: ({ language, forms }) => `The plural forms of ${language}: ${forms}.`,
    PRICE_TOO_FINE: ({ above }) => `Beside a budget above ${above} a price has 2 decimals at most.`,
    REPORT_ADDRESS: () => "Must be the query of a report's address.",
    REVERT_NOTHING: () => "This change set no setting and no status: there is nothing to bring back.",
    REVERT_REFUSED: ({ setting }) => `Cannot be brought back: the value of ${setting} is no longer allowed.`,
    REWARD_NEEDS_UNIT: () => "Is needed while a view or a click has a reward.",
    ROLE_NEEDS: ({ role }) => `Is needed for the role ${role}.`,
    SAMPLE_BOTS_ONLY: () => "The advertiser is the sample's: name only bots of the sample.",
    SINCE_FUTURE: () => "Must not be in the future.",
    TELEGRAM_CHAT: () => "Must be the id of a chat, such as -1001234567890, or its @name.",
    TELEGRAM_ID: () => "Must be a Telegram id: digits, such as 7000000001.",
    TEXT: () => "Must be text.",
    TIME_ZONE: () => "Must be a time zone, such as Europe/Berlin, or UTC.",
    TOKEN: () => "The link is not whole: open it again as it was sent.",
    TOTP_CODE: () => "Must be the six digits that the authenticator app shows.",
    TOTP_CODE_WRONG: () => "Is not the code that the authenticator app shows now. Is the clock right?",
    TRUE_OR_FALSE: () => "Must be yes or no.",
    TWICE: () => "Must not name anything twice.",
    UNKNOWN_FIELDS: ({ names }) => `This version of the ad service does not know: ${names}.`,
    UNKNOWN_LANGUAGE: ({ language }) => `${language} is not a language, such as en or pt.`,
    USERNAME: () => "Must be the bot's username without the @.",
    USER_CAP_HALF: () => "A cap per user needs both a number and a time span.",
    VIDEO_NEEDED: () => "Choose at least one video.",
    WHOLE_NUMBER: () => "Must be a whole number.",
    ZERO_CHARACTER: () => "Must not hold the character U+0000.",
  },
  ru: {
    ...fileWords.ru,
    LAST_VIDEO: () => "Это последнее видео кампании: приостановите её или сначала добавьте другое.",
    ROWS_AT_MOST: ({ max }) => `В отчёте больше ${max} строк: уберите разбивку или сократите период.`,
    ADVERTISER_NEW: ({ similar }) =>
      `Появится новый рекламодатель со своими отчётами и своим ключом постбэков; уже есть ${similar}.`,
    AMOUNTS_IN_CURRENCY: ({ stored, currency, running }) =>
      `Все суммы, и прошлые тоже, станут суммами в ${currency} вместо ${stored}; числа не пересчитываются. Узлы отвечают с ${running}, пока их не запустят снова с CURRENCY=${currency}.`,
    BLOCKS_NOBODY: ({ name, similar }) =>
      `Рекламодателя ${name} нет, поэтому никто не будет заблокирован, пока он не появится.${similar === "" ? "" : ` Есть ${similar}.`}`,
    CHANGED_SINCE: ({ setting }) => `${setting} с тех пор меняли: более позднее значение будет заменено.`,
    REFUNDS_CLICKS: ({ number, amount }) =>
      `Оплаченные клики, за которые вернут деньги: ${number}. Рекламодатели получат назад ${amount}, а заработанное издателями останется у них.`,
    REFUNDS_VIEWS: ({ number, amount }) =>
      `Оплаченные просмотры, за которые вернут деньги: ${number}. Рекламодатели получат назад ${amount}, а заработанное издателями останется у них.`,
    REFUSES_CLICKS: ({ number }) => `Задержанные клики, которые отклонят окончательно, без оплаты: ${number}.`,
    REFUSES_VIEWS: ({ number }) => `Задержанные просмотры, которые отклонят окончательно, без оплаты: ${number}.`,
    RELEASES_CLICKS: ({ number, amount }) =>
      `Задержанные клики, которые оплатят: ${number}. Издатели получат их события, а кампании заплатят ${amount}.`,
    RELEASES_VIEWS: ({ number, amount }) =>
      `Задержанные просмотры, которые оплатят: ${number}. Издатели получат их события, а кампании заплатят ${amount}.`,
    ENDS_NOW: ({ at }) => `${at} уже в прошлом, поэтому кампания закончится сейчас.`,
    LIMIT_REACHED: ({ limit, used }) =>
      `Лимит ${limit} не больше, чем уже набрано (${used}), поэтому кампания остановится насовсем.`,
    LIMIT_REACHED_TODAY: ({ limit, used }) =>
      `Лимит ${limit} не больше, чем набрано сегодня (${used}), поэтому кампания остановится до полуночи UTC.`,
    MACRO_UNKNOWN: ({ macro, macros }) => `${macro} — не макрос и будет отправлен как есть; макросы: ${macros}.`,
    NEVER_RUNS: ({ at }) => `${at} уже в прошлом, поэтому кампания никогда не начнётся.`,
    REFERENCE_KNOWN: ({ reference, name }) =>
      `${reference} уже стоит на пополнении ${name}; записанное снова, оно посчитается дважды.`,
    TAG_WITHOUT_AD: ({ code }) =>
      `Тег не вернул рекламы, которую можно показать (ошибка VAST ${code}; проверка VAST скажет больше). Пока это так, его кампании пропускаются.`,
    ABOVE_TOTAL: () => "Дневной предел не может быть больше общего.",
    ADDRESS_FRAGMENT: () => "Уберите часть после #.",
    ADDRESS_NEEDS_HTTPS: () => "Адрес должен начинаться с https://",
    ADDRESS_SCHEME: () => "Адрес должен начинаться с https:// или http://",
    ADDRESS_USER_INFO: () => "В адресе не должно быть имени пользователя и пароля.",
    ADVERTISER_ARCHIVED: ({ name }) => `${name} в архиве: сначала верните его.`,
    ADVERTISER_CHARGED: () =>
      "С рекламодателя уже списано за эту кампанию, она остаётся за ним: переименуйте его или создайте другую кампанию.",
    ADVERTISER_UNKNOWN: () => "Такого рекламодателя нет: сначала добавьте его.",
    AMOUNT: ({ min, max, fault, write }) => `Сумма от ${min} до ${max}: ${amountHint("ru", fault, write)}.`,
    AT_LEAST: ({ min }) => `Не меньше ${min}.`,
    AT_MOST: ({ max }) => `Не больше ${max}.`,
    CALL_TO_ACTION_NEEDS_ADDRESS: () => "Кнопке рядом с видео нужна целевая страница.",
    CHANGE_NOTHING: () => "Измените хотя бы одну настройку.",
    CHARACTERS_AT_LEAST: ({ min }) => `Символов должно быть не меньше ${min}.`,
    CHARACTERS_AT_MOST: ({ max }) => `Символов должно быть не больше ${max}.`,
    CONTROL_CHARACTERS: () => "Управляющих символов быть не должно.",
    COUNTRIES_UNKNOWN: () =>
      "Страны пользователей неизвестны: задайте COUNTRY_DATABASE или COUNTRY_HEADER и перезапустите сервис рекламы.",
    COUNTRY_CODE: () => "Страна — её код по ISO 3166 заглавными буквами, например DE; Великобритания — GB.",
    CURRENCY_CODE: () => "Валюта — её код по ISO 4217 заглавными буквами, например EUR.",
    CURSOR: () => "Этой страницы списка больше нет: откройте список снова.",
    DIMENSIONS: () => "Так отчёт разбить нельзя: выберите другие группы или меньше групп.",
    EMAIL: () => "Нужен адрес почты, например ann@example.com.",
    EMPTY: () => "Заполните это поле.",
    END_BEFORE_START: () => "Конец должен быть позже начала.",
    ENTRIES_AT_LEAST: ({ min }) => `Нужно указать не меньше ${min}.`,
    ENTRIES_AT_MOST: ({ max }) => `Можно указать не больше ${max}.`,
    HALF_CHARACTER: () => "Есть половина символа, например обрезанного эмодзи: введите его заново.",
    HEX_KEY: () => "Нужны 8 шестнадцатеричных цифр, как в списке.",
    ID: () => "Нужен id, как его показывают списки.",
    LANGUAGE_CODE: () => "Язык — его код по ISO 639, например ru; украинский — uk.",
    LINK_NEEDS_ADDRESS: () => "Кампании с прямыми ссылками нужна целевая страница.",
    LINK_NEEDS_NO_VIDEO: () => "У кампании с прямыми ссылками есть целевая страница и нет видео.",
    LIST: () => "Нужен список.",
    MICROS: ({ min, max }) => `От ${min} до ${max} миллионных долей валюты.`,
    MISSING: () => "Это поле нужно.",
    MOMENT: () => "Нужна дата, например 2026-01-31, или дата и время.",
    MONTH: () => "Нужен месяц, например 2026-03.",
    NAME_WORD: () => "Не больше 32 строчных латинских букв, цифр и дефисов.",
    NOT_AN_ADDRESS: () => "Это не адрес: напишите его целиком, например https://example.com/page.",
    NOT_FOR_PREPAID: () => "При предоплате лимита кредита нет.",
    NOT_FOR_ROLE: ({ role }) => `Для роли ${role} это поле должно быть пустым.`,
    NUMBER: () => "Нужно число.",
    OBJECT: () => "Значение имеет другой вид.",
    OF_LINKS_ONLY: () => "Это для прямых ссылок, а у кампании только видео.",
    OF_VIDEOS_ONLY: () => "Это для видео, а у кампании только прямые ссылки.",
    ONE_OF: ({ words }) => `Одно из: ${words}.`,
    OPERATOR_ONLY: () => "Это задаёт только оператор: текст показывается рядом с видео без проверки.",
    OTHER_ADDRESS_NEEDED: () => "Нужен другой адрес, не адрес вебхуков бота.",
    PERIOD_TOO_LONG: ({ days }) => `Не больше ${days} дней до конца.`,
    PLURAL_FORMS: ({ language, forms }) => `Формы числа для ${language}: ${forms}.`,
    PRICE_TOO_FINE: ({ above }) => `При бюджете больше ${above} у цены не больше 2 знаков после точки.`,
    REPORT_ADDRESS: () => "Нужна строка запроса из адреса отчёта.",
    REVERT_NOTHING: () => "Это изменение не меняло ни настроек, ни статуса: возвращать нечего.",
    REVERT_REFUSED: ({ setting }) => `Вернуть нельзя: значение ${setting} больше не допускается.`,
    REWARD_NEEDS_UNIT: () => "Нужно, пока у просмотра или клика есть награда.",
    ROLE_NEEDS: ({ role }) => `Для роли ${role} это поле нужно.`,
    SAMPLE_BOTS_ONLY: () => "Рекламодатель — из примера: укажите только ботов примера.",
    SINCE_FUTURE: () => "Время не должно быть в будущем.",
    TELEGRAM_CHAT: () => "Нужен id чата, например -1001234567890, или его @имя.",
    TELEGRAM_ID: () => "Нужен id Telegram: цифры, например 7000000001.",
    TEXT: () => "Нужен текст.",
    TIME_ZONE: () => "Нужен часовой пояс, например Europe/Berlin, или UTC.",
    TOKEN: () => "Ссылка неполная: откройте её ещё раз так, как она была отправлена.",
    TOTP_CODE: () => "Нужны шесть цифр, которые показывает приложение-аутентификатор.",
    TOTP_CODE_WRONG: () => "Сейчас приложение-аутентификатор показывает другой код. Верно ли идут часы?",
    TRUE_OR_FALSE: () => "Нужно да или нет.",
    TWICE: () => "Ничего не указывайте дважды.",
    UNKNOWN_FIELDS: ({ names }) => `Эта версия сервиса рекламы не знает: ${names}.`,
    UNKNOWN_LANGUAGE: ({ language }) => `${language} — не язык, как например ru или pt.`,
    USERNAME: () => "Нужно имя бота в Telegram без @.",
    USER_CAP_HALF: () => "Пределу на пользователя нужны и число, и срок.",
    VIDEO_NEEDED: () => "Выберите хотя бы одно видео.",
    WHOLE_NUMBER: () => "Нужно целое число.",
    ZERO_CHARACTER: () => "Символа U+0000 быть не должно.",
  },
} satisfies Record<keyof LocalText, FaultTable>;

/** Undefined: this version knows no such fault, or it lacks a value; then the server's message is shown. */
export function faultText({
  code,
  values,
}: {
  code: string;
  values: Readonly<Record<string, string>>;
}): LocalText | undefined {
  if (!isFault(code) || fieldFaults[code].some((name) => values[name] === undefined)) return undefined;
  const textIn = (language: keyof LocalText) => {
    // The values of this code were checked; a union of codes loses which they are.
    const sentence = faultWords[language][code] as (values: Readonly<Record<string, string>>) => string;
    return sentence(values);
  };
  return { en: textIn("en"), ru: textIn("ru") };
}

function isFault(code: string): code is FieldFaultCode {
  return Object.hasOwn(fieldFaults, code);
}

/** The faults of a request that its schema refuses, by field; undefined for one that it accepts. */
export function faultsOfBody(schema: z.ZodType, body: unknown): Readonly<Record<string, LocalText>> | undefined {
  const issues = schema.safeParse(body, { reportInput: true }).error?.issues;
  return (
    issues &&
    Object.fromEntries(
      issues.map((issue) => {
        const fault = faultOfIssue(issue);
        const { message } = issue;
        const names = issue.path.filter((part) => typeof part === "string");
        return [names.join("."), (fault && faultText(fault)) ?? { en: message, ru: message }];
      }),
    )
  );
}

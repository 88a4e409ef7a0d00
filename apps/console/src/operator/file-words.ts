import { type FileFaultTexts, type FileWord, fileFaultTexts } from "@intermission/operator-api/file-faults";

/** Words of the server in its sentences, such as what a file is instead of a video. */
const russian = {
  "an HLS playlist": "плейлист HLS",
  "a list of files": "список файлов",
  "a streaming manifest": "манифест потока",
  "a playlist": "плейлист",
  "an XML document": "документ XML",
  "a session description (SDP)": "описание сессии (SDP)",
  "an edit list": "список монтажа",
  "a list of addresses": "список адресов",
  "a PNG picture": "картинка PNG",
  "a JPEG picture": "картинка JPEG",
  "a WebP picture": "картинка WebP",
  "a PDF document": "документ PDF",
  "an archive (ZIP)": "архив (ZIP)",
  "a sound file": "звуковой файл",
  "a wide gamut (BT.2020)": "широкий цветовой охват (BT.2020)",
  "high dynamic range (HLG)": "расширенный динамический диапазон (HLG)",
  "high dynamic range (PQ)": "расширенный динамический диапазон (PQ)",
  "an MP4": "MP4",
  "a WebM": "WebM",
} satisfies Record<FileWord, string>;
/** Names, as of a codec, stay as they are. */
const inRussian = (words: string): string => (isFileWord(words) ? russian[words] : words);
const isFileWord = (words: string): words is FileWord => Object.hasOwn(russian, words);

const texts: FileFaultTexts = {
  CAPTIONS_HEAD: () =>
    "Файл не начинается с WEBVTT. Файл .srt преобразует команда: ffmpeg -i captions.srt captions.vtt",
  CAPTIONS_LANGUAGE: ({ language }) => `${language} — не язык; нужно, например, ru или pt-BR.`,
  CAPTIONS_LANGUAGES: ({ max }) => `Субтитров уже ${max}, больше нельзя: сначала удалите одни.`,
  CAPTIONS_NEVER_SHOWN: () => "Пока идёт видео, ни один субтитр не показывается.",
  CAPTIONS_NOT_UTF8: () => "Файл не в UTF-8: сохраните его в UTF-8.",
  CAPTIONS_TIMES: ({ line }) => `В строке ${line} нет времени вида 00:01.500 --> 00:04.000.`,
  CONVERSION_TOO_LONG: () => "Преобразовать его здесь не получилось: это слишком долго.",
  CONVERT_WITH: ({ command }) => `Преобразуйте его командой: ${command}`,
  DOWNLOAD: ({ reason }) => `По адресу нет видео (${reason}).`,
  FILE_EMPTY: () => "Файл пуст.",
  FILE_INDEX: () => "Оглавление файла (moov) нельзя прочитать, или оно слишком велико.",
  FILE_INDEX_MISSING: () => "В файле нет оглавления (moov).",
  FILE_IS_OTHER: ({ kind }) => `Файл — ${inRussian(kind)}, а не видео. Загрузите само видео: MP4 или WebM.`,
  FILE_NO_VIDEO: () => "Файл не MP4 и не WebM: судя по содержимому, это вообще не видео.",
  FILE_OTHER_MEDIA: () => "Само видео лежит в других файлах, на которые этот лишь ссылается.",
  FILE_SAMPLES: ({ max }) => `В одной из дорожек больше ${max} кадров или звук чаще 192 кГц.`,
  FILE_TOO_LARGE: ({ max }) => `Файл больше ${max.replace("MiB", "МиБ").replace("KiB", "КиБ")}.`,
  FILE_TRACKS: ({ max }) => `В файле больше ${max} дорожек.`,
  FILE_TRUNCATED: () => "Файл обрывается: он загружен или сохранён не целиком.",
  FILE_UNREADABLE: () => "Файл не удалось прочитать как MP4 или WebM.",
  PICTURE_PIXELS: ({ width, height, max }) => `Картинка ${width}×${height}: это больше ${max} пикселей.`,
  PICTURE_SIDES: ({ width, height, min, max }) =>
    `Картинка ${width}×${height}: каждая сторона должна быть от ${min} до ${max} пикселей.`,
  PICTURE_UNREADABLE: () => "Файл не удалось прочитать как картинку JPEG, PNG или WebP.",
  SERVER_BUSY: () => "Сервер занят другими видео: добавьте его ещё раз через минуту.",
  TAG_HAS_NO_CAPTIONS: () => "У тега VAST нет своего видео, поэтому субтитров у него быть не может.",
  TAG_HAS_NO_POSTER: () => "У тега VAST нет своего видео, поэтому обложки у него быть не может.",
  VIDEO_BEGINS_LATE: ({ seconds }) => `Видео начинается с пустоты: ${seconds} с.`,
  VIDEO_CODEC: ({ codec }) =>
    `Кодек видео ${codec === "" ? "неизвестен" : `— ${codec}`}: для MP4 нужен H.264, для WebM — VP8, VP9 или AV1.`,
  VIDEO_COLOURS: ({ colours }) => `У картинки ${inRussian(colours)}: на многих экранах она серая.`,
  VIDEO_EDITS_LENGTH: () => "В списке монтажа есть часть без длины: на ней браузеры заканчивают.",
  VIDEO_EDITS_PARTS: ({ parts }) => `В списке монтажа частей: ${parts}, а браузеры показывают только первую.`,
  VIDEO_EDITS_SHOWN: ({ seconds, of }) =>
    `По списку монтажа видно ${seconds} с из ${of} с, но браузеры этого не соблюдают.`,
  VIDEO_EDITS_SPEED: () => "Список монтажа меняет скорость, а браузеры её не меняют.",
  VIDEO_FRAGMENTED: () => "Это фрагментированный MP4: его длину браузеры узнают только в конце.",
  VIDEO_INDEX_LAST: () => "Оглавление файла (moov) стоит в конце, поэтому видео начнётся не сразу.",
  VIDEO_INTERLACED: () => "Развёртка чересстрочная: на телефонах края движущихся предметов видны «гребёнкой».",
  VIDEO_LENGTH_WRONG: () => "Длина видео не указана или указана неверно.",
  VIDEO_MATROSKA: ({ container }) => `Это файл Matroska, а нужен ${inRussian(container)}.`,
  VIDEO_MISSING: () => "В файле нет видео, которое удалось бы прочитать.",
  VIDEO_MORE_PICTURES: ({ tracks }) => `Дорожек с картинкой: ${tracks}, и браузеры могут показать другую.`,
  VIDEO_MORE_SOUND_EDITED: () => "Ещё одна звуковая дорожка со списком монтажа, который браузеры не соблюдают.",
  VIDEO_MORE_SOUND_LONGER: () => "Ещё одна звуковая дорожка длиннее видео.",
  VIDEO_PROFILE: ({ codec, profile }) =>
    `Профиль ${codec} (${profile}) телефоны не воспроизводят: нужны 8 бит и 4:2:0.`,
  VIDEO_QUICKTIME: () => "Это файл QuickTime, а нужен MP4.",
  VIDEO_SECONDS: ({ seconds, min, max }) => `Видео длится ${seconds} с, а должно — от ${min} до ${max} с.`,
  VIDEO_SIZE: ({ width, height }) =>
    `Картинка ${width}×${height}: можно не больше 4096×2304 пикселей или столько же в другой форме.`,
  VIDEO_SOUND_CODEC: ({ codec }) =>
    `Кодек звука ${codec === "" ? "неизвестен" : `— ${codec}`}: для MP4 нужен AAC (LC или HE), для WebM — Opus или Vorbis.`,
};

/** The server's clauses as sentences of their own; a command stays as it is. */
function inSentences(clauses: FileFaultTexts): FileFaultTexts {
  const entries = Object.entries(clauses).map(([code, clause]) => [
    code,
    (values: never) => {
      const text = clause(values);
      const capital = text.charAt(0).toUpperCase() + text.slice(1);
      return text.includes(": ffmpeg ") ? capital : `${capital}.`;
    },
  ]);
  // Of the same codes as the clauses, which the type of entries loses.
  return Object.fromEntries(entries);
}

/** What is wrong with a file, a sentence in each language. A fault without one does not compile. */
export const fileWords = { en: inSentences(fileFaultTexts), ru: texts };

import { readAmount } from "@intermission/operator-api/amounts";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { expect, test } from "vitest";
import { faultsOfBody, faultText } from "../src/operator/fault-words.ts";
import type { LocalText } from "../src/operator/local-text.ts";
import { faultOfAmount } from "../src/ui/typed-faults.ts";

const inBoth = (text: LocalText | undefined) => text && { en: text.in("en"), ru: text.in("ru") };

test("what is wrong with a field is said in the reader's language with its values, unknown faults are left to the server", () => {
  const tooLong = { code: "CHARACTERS_AT_MOST", values: { max: "128" } };
  expect(inBoth(faultText(tooLong))).toEqual({
    en: "Must have at most 128 characters.",
    ru: "Символов должно быть не больше 128.",
  });
  expect(faultText({ code: "CHARACTERS_AT_MOST", values: {} })).toBeUndefined();
  expect(faultText({ code: "FROM_A_LATER_VERSION", values: {} })).toBeUndefined();
  expect(faultText({ code: "toString", values: {} })).toBeUndefined();
});

test("a form's faults are in both languages, by field", () => {
  const faults = faultsOfBody(campaignRoutes.addCampaign.body, { name: "Spring", advertiser: "", formats: [] });
  expect(Object.fromEntries(Object.entries(faults ?? {}).map(([field, text]) => [field, inBoth(text)]))).toEqual({
    advertiser: { en: "Must not be empty.", ru: "Заполните это поле." },
    formats: { en: "At least 1 must be named.", ru: "Нужно указать не меньше 1." },
  });
  expect(
    faultsOfBody(campaignRoutes.addCampaign.body, { name: "A", advertiser: "B", formats: ["rewarded"] }),
  ).toBeUndefined();
});

test("an amount's fault says how to write it", async () => {
  const read = readAmount("12,5", "budget");
  if (read.outcome !== "refused") throw new Error("it was read");
  expect(inBoth(await faultOfAmount(read))).toEqual({
    en: "An amount from 0.000001 to 100000000000: write 12.5.",
    ru: "Сумма от 0.000001 до 100000000000: напишите 12.5.",
  });
});

test("where an amount is needed, no sentence advises to leave it empty", async () => {
  const read = readAmount("0", "payment");
  if (read.outcome !== "refused") throw new Error("it was read");
  expect(inBoth(await faultOfAmount(read))).toEqual({
    en: "An amount from 0.000001 to 100000000000: it must be more than 0.",
    ru: "Сумма от 0.000001 до 100000000000: она должна быть больше нуля.",
  });
});

test("what is wrong with a file is said in sentences, with what its owner can do", () => {
  const texts = [
    { code: "FILE_IS_OTHER", values: { kind: "an HLS playlist" } },
    { code: "FILE_TOO_LARGE", values: { max: "1 MiB" } },
    { code: "VIDEO_CODEC", values: { codec: "" } },
    { code: "CONVERT_WITH", values: { command: "ffmpeg -i a.mov a.mp4" } },
    { code: "VIDEO_SECONDS", values: { seconds: "0.5", min: "1", max: "180" } },
  ].map(faultText);
  expect(texts.map((text) => text?.in("en"))).toEqual([
    "The file is an HLS playlist, not a video; upload the video itself as an MP4 or WebM.",
    "The file is larger than 1 MiB.",
    "Its video is of an unknown codec; an MP4 needs H.264, a WebM VP8, VP9 or AV1.",
    "Convert it with: ffmpeg -i a.mov a.mp4",
    "The video lasts 0.5 s: it must last 1 to 180 s.",
  ]);
  expect(texts.map((text) => text?.in("ru"))).toEqual([
    "Файл — плейлист HLS, а не видео. Загрузите само видео: MP4 или WebM.",
    "Файл больше 1 МиБ.",
    "Кодек видео неизвестен: для MP4 нужен H.264, для WebM — VP8, VP9 или AV1.",
    "Преобразуйте его командой: ffmpeg -i a.mov a.mp4",
    "Видео длится 0.5 с, а должно — от 1 до 180 с.",
  ]);
});

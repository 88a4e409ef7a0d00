import { expect, test } from "vitest";
import { describeDevice } from "../creatives/choose-rendition.ts";
import { chooseMediaFile } from "./judge-ad.ts";
import type { MediaFile } from "./vast-ad.ts";

const file = (
  name: string,
  width: number,
  height: number,
  bitrate: number,
  more: Partial<MediaFile> = {},
): MediaFile => ({
  fileUrl: `https://cdn.example/${name}`,
  delivery: "progressive",
  mimeType: "video/mp4",
  codec: null,
  apiFramework: null,
  width,
  height,
  bitrate,
  ...more,
});
const ladder = [
  file("360p", 640, 360, 600),
  file("1080p", 1920, 1080, 4500),
  file("720p", 1280, 720, 1800),
  file("720p-rich", 1280, 720, 5000),
  file("portrait", 720, 1280, 1500),
];
const phone = describeDevice({ "user-agent": "iPhone" });
const chosen = (files: MediaFile[], device = phone, isPlainHttpAllowed = false) =>
  chooseMediaFile(files, { device, isPlainHttpAllowed })?.fileUrl?.split("/").at(-1);

test("chooses the best file that the device can use", () => {
  expect(chosen(ladder)).toBe("720p");
  expect(chosen(ladder, describeDevice({}))).toBe("1080p");
});
test("chooses the smallest file if all exceed what the device can use", () => {
  expect(chosen([file("4k", 3840, 2160, 20_000), file("1440p", 2560, 1440, 9000)])).toBe("1440p");
});
test("chooses among equal files the one that phones decode in hardware", () => {
  const webm = file("webm", 1280, 720, 1800, { mimeType: "video/webm" });
  expect(chosen([webm, file("mp4", 1280, 720, 1800)])).toBe("mp4");
  expect(chosen([file("mp4", 1280, 720, 1800), webm])).toBe("mp4");
});
test("chooses only a type that the device plays", () => {
  const files = [file("mp4", 1280, 720, 1800), file("webm", 640, 360, 600, { mimeType: "video/webm" })];
  expect(chosen(files, { ...phone, mediaTypes: ["video/webm"] })).toBe("webm");
  expect(chosen(files, { ...phone, mediaTypes: [] })).toBeUndefined();
});
test.each<[string, Partial<MediaFile>]>([
  ["a codec that not every webview has", { codec: "hvc1.1.6" }],
  ["a script", { apiFramework: "VPAID" }],
  ["streaming", { delivery: "streaming" }],
  ["another scheme", { fileUrl: "rtmp://cdn.example/a" }],
  ["a password", { fileUrl: "https://a:b@cdn.example/a" }],
  ["no address", { fileUrl: "ad.mp4" }],
])("%s is never chosen", (_name, more) => expect(chosen([file("a", 640, 360, 500, more)])).toBeUndefined());
test("requests a file of http by https where the page may not use http, and only for want of others", () => {
  const plain = file("720p", 1280, 720, 1800, { fileUrl: "http://cdn.example:80/720p" });
  const urlOf = (files: MediaFile[], isPlainHttpAllowed: boolean) =>
    chooseMediaFile(files, { device: phone, isPlainHttpAllowed })?.fileUrl;
  expect(urlOf([plain], false)).toBe("https://cdn.example/720p");
  expect(urlOf([plain], true)).toBe("http://cdn.example/720p");
  const small = file("360p", 640, 360, 600);
  expect(urlOf([plain, small], false)).toBe("https://cdn.example/360p");
  expect(urlOf([plain, small], true)).toBe("http://cdn.example/720p");
});
test.each(["H.264", "avc1.64001f", "MPEG-4/AVC", "MPEG4 AVC/H264"])("a file of H.264 is chosen as %s", (codec) =>
  expect(chosen([file("a", 640, 360, 500, { codec })])).toBe("a"),
);
test("assumes a usual size for a file without one, since the page needs a size", () => {
  const found = chooseMediaFile([file("a", 0, 0, 0)], { device: phone, isPlainHttpAllowed: false });
  expect(found).toMatchObject({ width: 640, height: 360 });
});

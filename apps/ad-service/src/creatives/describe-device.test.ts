import { expect, test } from "vitest";
import { describeDevice } from "./choose-rendition.ts";

const phone = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)" };
const desktop = { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" };

test("without hints only the browser's name decides", () => {
  expect(describeDevice(phone)).toEqual({ shorterSide: 720, bitrate: 2500 });
  expect(describeDevice(desktop)).toEqual({ shorterSide: 1080, bitrate: 6000 });
  expect(describeDevice({})).toEqual({ shorterSide: 1080, bitrate: 6000 });
});

test.each<[string, Record<string, string>, { shorterSide: number; bitrate: number }]>([
  ["a device that saves data", { "save-data": "on" }, { shorterSide: 360, bitrate: 600 }],
  ["a connection like 3G", { ect: "3g" }, { shorterSide: 480, bitrate: 700 }],
  ["a connection like 2G", { ect: "slow-2g" }, { shorterSide: 360, bitrate: 250 }],
  ["a connection like 4G", { ect: "4g" }, { shorterSide: 720, bitrate: 2500 }],
  ["a measured connection", { downlink: "1.5" }, { shorterSide: 720, bitrate: 1050 }],
  ["a narrow page", { "sec-ch-viewport-width": "240", "sec-ch-dpr": "1.5" }, { shorterSide: 360, bitrate: 2500 }],
  ["a wide page", { "sec-ch-viewport-width": "430", "sec-ch-dpr": "3" }, { shorterSide: 720, bitrate: 2500 }],
  ["the lowest of all", { ect: "3g", downlink: "0.4", "save-data": "on" }, { shorterSide: 360, bitrate: 280 }],
])("%s limits what is sent", (_name, hints, device) => {
  expect(describeDevice({ ...phone, ...hints })).toEqual(device);
});

test.each([
  { ect: "5g", downlink: "fast", "save-data": "?0", "sec-ch-viewport-width": "-1", "sec-ch-dpr": "NaN" },
  { ect: "", downlink: "", "save-data": "", "sec-ch-viewport-width": "", "sec-ch-dpr": "" },
  { ect: "__proto__", downlink: "1e9", "sec-ch-viewport-width": "390", "sec-ch-dpr": "0" },
  { ect: "constructor", downlink: "9".repeat(400), "sec-ch-viewport-width": "390" },
  { ect: ["2g", "2g"], downlink: ["1"], "save-data": ["on"] },
])("invalid hints are ignored: %o", (hints) => {
  expect(describeDevice({ ...phone, ...hints })).toEqual(describeDevice(phone));
});

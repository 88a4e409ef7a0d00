import { expect, test } from "vitest";
import { describeFault } from "./describe-fault.ts";

test.each([
  ["Chromium, of a file that is not there", 4, "MEDIA_ELEMENT_ERROR: Format error", "not-found"],
  ["Firefox, of a file that is not there", 4, "404: Not Found", "not-found"],
  ["WebKit, which says nothing", 4, "", "not-found"],
  [
    "Chromium, of something else than a video",
    4,
    "DEMUXER_ERROR_COULD_NOT_OPEN: FFmpegDemuxer: open context failed",
    "not-displayed",
  ],
  ["Firefox, of something else than a video", 4, "NS_ERROR_DOM_MEDIA_METADATA_ERR (0x806e0006)", "not-displayed"],
  ["any, of a broken frame", 3, "PIPELINE_ERROR_DECODE", "not-displayed"],
  ["any, of a connection that broke off", 2, "PIPELINE_ERROR_READ", "other"],
] as const)("%s: code %i, %j is %s", (_browser, code, message, fault) => {
  expect(describeFault({ code, message })).toBe(fault);
});

test("a video that stands still without an error ran out of time", () => {
  expect(describeFault(null)).toBe("timeout");
});

import { expect, test } from "vitest";
import { describeFault } from "./describe-fault.ts";

test.each([
  ["Chromium, missing file", 4, "MEDIA_ELEMENT_ERROR: Format error", "not-found"],
  ["Firefox, missing file", 4, "404: Not Found", "not-found"],
  ["WebKit, empty message", 4, "", "not-found"],
  ["Chromium, not a video", 4, "DEMUXER_ERROR_COULD_NOT_OPEN: FFmpegDemuxer: open context failed", "not-displayed"],
  ["Firefox, of something else than a video", 4, "NS_ERROR_DOM_MEDIA_METADATA_ERR (0x806e0006)", "not-displayed"],
  ["any, of a broken frame", 3, "PIPELINE_ERROR_DECODE", "not-displayed"],
  ["any, of a connection that broke off", 2, "PIPELINE_ERROR_READ", "other"],
] as const)("%s: code %i, %j is %s", (_browser, code, message, fault) => {
  expect(describeFault({ code, message })).toBe(fault);
});

test("a video that stalls without an error is a timeout", () => {
  expect(describeFault(null)).toBe("timeout");
});

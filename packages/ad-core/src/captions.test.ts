import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCaptions } from "./captions.ts";

const file = `WEBVTT - made by hand

NOTE nobody sees this

STYLE
::cue { color: red }

intro
00:00.000 --> 00:01.500 line:0 align:start
<v Ann>Hello</v> &amp; <i>welcome</i>
back

01:02:03.004 --> 100:00:00.000
&lt;3 &unknown;
`;

test("cues are parsed with their times; markup, notes and styles are dropped", () => {
  const cues = [
    { fromMs: 0, toMs: 1500, text: "Hello & welcome\nback" },
    { fromMs: 3_723_004, toMs: 360_000_000, text: "<3 &unknown;" },
  ];
  expect(parseCaptions(file)).toEqual({ cues });
  expect(parseCaptions(file.replaceAll("\n", "\r\n"))).toEqual({ cues });
});

test.each(["00:00:01,000 --> 00:00:02,000", "00:02.000 --> 00:01.000", "1 --> 2", "00:61.000 --> 02:00.000", "-->"])(
  "a faulty timing line like %s is reported, and its text is dropped",
  (line) => {
    expect(parseCaptions(`WEBVTT\n\n${line}\nHello\n`)).toEqual({ cues: [], faultyLine: 3 });
  },
);

test("no file makes the parser throw, and each cue ends after it begins", () => {
  const pieces = fc.constantFrom("WEBVTT", "\n", "\r", "00:01.000", " --> ", "99:00:00.000", "<", ">", "&amp;", "x");
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      for (const { fromMs, toMs } of parseCaptions(parts.join("")).cues) expect(toMs).toBeGreaterThan(fromMs);
    }),
  );
});

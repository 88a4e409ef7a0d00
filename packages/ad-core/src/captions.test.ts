import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCaptions, parseCues } from "./captions.ts";

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

test.each([
  ["It&#39;s &#x27;here&#X27; &quot;now&quot; &apos;", `It's 'here' "now" '`],
  ["fish &amp chips &lt3 &amp;lt; &nbsp;&lrm;&rlm;", "fish & chips <3 &lt; \u00a0\u200e\u200f"],
  ["&#0; &#xD800; &#x110000; &#128522;&#8217", "\ufffd \ufffd \ufffd 😊’"],
  ["R&D, AT&T, a & b &; &#; &#x;", "R&D, AT&T, a & b &; &#; &#x;"],
  ["<c.loud.red>Loud</c> <00:00:01.500><b>bold</b> <u>under</u><lang en>line</lang>", "Loud bold underline"],
  ["<v.first Ann\nB>Hello</v>", "Hello"],
  ["<ruby>漢<rt>kan</rt>字<rt.small>ji</ruby>", "漢(kan)字(ji)"],
  ["<font color=red>SRT</font> <I>too</I></>", "SRT too"],
  ["1 < 2 and 3 > 2, I <3 you", "1 < 2 and 3 > 2, I <3 you"],
  ["&lt;script&gt;alert(1)&lt;/script&gt;", "<script>alert(1)</script>"],
])("the cue text %j reads %j", (text, expected) => {
  const { cues } = parseCaptions(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}\n`);
  expect(cues).toEqual([{ fromMs: 1000, toMs: 2000, text: expected }]);
});

test("a page makes the text of whole cues, without what HTML does not have", () => {
  const file = "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>20&deg;</i>\n<00:01.500><ruby>漢<rt>kan</rt></ruby>\n";
  const { cues } = parseCues(file, (text) => `[${text}]`);
  expect(cues.map(({ text }) => text)).toEqual(["[<i>20&deg;</i>\n<ruby>漢(kan)</ruby>]"]);
});

test("regions, styles, notes, a byte order mark, and cues without an empty line between them are read", () => {
  const file = `\ufeffWEBVTT Kind: captions
X-TIMESTAMP-MAP=LOCAL:00:00:00.000

REGION
id:fred
width:40%

STYLE
::cue(b) { color: red }

NOTE
A long
note

1
00:01.000 --> 00:02.000 region:fred position:10%,line-left
One
00:02.000 --> 00:03.000
Two

NOTE between

1234567:00:00.000 --> 1234567:00:01.000

12345:00:00.000 --> 12345:00:01.000
Late`;
  expect(parseCaptions(file)).toEqual({
    cues: [
      { fromMs: 1000, toMs: 2000, text: "One" },
      { fromMs: 2000, toMs: 3000, text: "Two" },
      { fromMs: 44_442_000_000, toMs: 44_442_001_000, text: "Late" },
    ],
    faultyLine: 23,
  });
});

test("no file makes the parser throw, and each cue ends after it begins", () => {
  const pieces = fc.constantFrom("WEBVTT", "\n", "\r", "00:01.000", " --> ", "99:00:00.000", "<", ">", "&amp;", "x");
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      for (const { fromMs, toMs } of parseCaptions(parts.join("")).cues) expect(toMs).toBeGreaterThan(fromMs);
    }),
  );
});

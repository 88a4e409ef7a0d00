import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { vastReasonsInEnglish, vastReasonText } from "@intermission/operator-api/vast-reasons-in-english";
import { describe, expect, test } from "vitest";
import { type Answer, companion, inline, vast, wrapper } from "../../test/fixtures/sample-ad-server.ts";
import { unwrap } from "../../test/fixtures/unwrap-fixture.ts";
import { encodingOf } from "./decode-document.ts";

/** Answers with these bytes, whatever the document says. */
const sends =
  (body: Uint8Array | string, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(200, { "content-type": "application/xml", ...headers }).end(body);

/** The address of the ad server, for documents that are encoded before it listens. */
const elsewhere = "https://ads.example";
const document = inline().replaceAll("{self}", elsewhere);
const files = (addresses: string, attributes = 'type="video/mp4" delivery="progressive"') =>
  `<MediaFile width="640" height="360" ${attributes}>${addresses}</MediaFile>`;

describe("a compressed answer is read, although the request accepts none", () => {
  const twice = brotliCompressSync(gzipSync(document));
  test.each<[string, Uint8Array | string, Record<string, string>]>([
    ["gzip", gzipSync(document), { "content-encoding": "gzip" }],
    ["x-gzip, in upper case", gzipSync(document), { "content-encoding": "X-GZIP" }],
    ["deflate", deflateSync(document), { "content-encoding": "deflate" }],
    ["deflate without zlib's header", deflateRawSync(document), { "content-encoding": "deflate" }],
    ["brotli", brotliCompressSync(document), { "content-encoding": "br" }],
    ["zstd", zstdCompressSync(document), { "content-encoding": "zstd" }],
    ["two codings", twice, { "content-encoding": "gzip, br" }],
    ["gzip without a header", gzipSync(document), {}],
    ["gzip that is declared plain", gzipSync(document), { "content-encoding": "identity" }],
    ["plain text that is declared gzip", document, { "content-encoding": "gzip" }],
    ["plain text that is declared brotli", `\n ${document}`, { "content-encoding": "br" }],
    ["plain text whose charset is named as its coding", document, { "content-encoding": "utf-8" }],
  ])("%s", async (_name, body, headers) => {
    const { outcome } = await unwrap({ "/tag": sends(body, headers) });
    expect(outcome).toMatchObject({ outcome: "ad", ad: { mediaUrl: `${elsewhere}/ad.mp4` } });
  });

  const bomb = Buffer.alloc(64 * 1024 * 1024);
  test.each<[string, Uint8Array]>([
    ["gzip", gzipSync(bomb)],
    ["deflate", deflateSync(bomb)],
    ["br", brotliCompressSync(bomb)],
    ["zstd", zstdCompressSync(bomb)],
  ])("a %s bomb of 64 MiB is refused at 512 KiB", async (coding, body) => {
    expect(body.byteLength).toBeLessThan(512 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    const { outcome } = await unwrap({ "/tag": sends(body, { "content-encoding": coding }) });
    expect(outcome).toMatchObject({ outcome: "no-ad", code: 301, reason: { kind: "too-large", maxBytes: 512 * 1024 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  test.each<[string, Uint8Array | string, string]>([
    ["broken off", gzipSync(document).subarray(0, 200), "gzip"],
    ["of an unknown coding", gzipSync(document).subarray(2), "compress"],
  ])("one that is %s is error 100, and says so", async (_name, body, coding) => {
    const { outcome } = await unwrap({ "/tag": sends(body, { "content-encoding": coding }) });
    expect(outcome).toMatchObject({ code: 100, reason: { encoding: coding } });
  });
});

describe("a document is read in its own encoding", () => {
  const name = "Чай Ёж";
  const declaring = (encoding: string) =>
    document
      .replace('encoding="UTF-8"', `encoding="${encoding}"`)
      .replace("<Advertiser>Sample advertiser", `<Advertiser>${name}`);
  const cyrillic = (text: string) =>
    Buffer.from(
      Array.from(text, (letter) => {
        const code = letter.charCodeAt(0);
        if (code < 0x80) return code;
        return code === 0x401 ? 0xa8 : code - 0x410 + 0xc0;
      }),
    );
  const le = (text: string) => Buffer.from(text, "utf16le");
  const be = (text: string) => le(text).swap16();
  const type = (charset: string) => ({ "content-type": `text/xml; charset=${charset}` });
  const mark = "\ufeff";

  test.each<[string, Uint8Array, Record<string, string>]>([
    ["windows-1251, declared by the document", cyrillic(declaring("windows-1251")), {}],
    ["windows-1251, declared by the header in quotes", cyrillic(declaring("UTF-8")), type('"Windows-1251"')],
    ["the header precedes the document", Buffer.from(declaring("windows-1251")), type("utf-8")],
    ["an unknown charset of the header is skipped", cyrillic(declaring("cp1251")), type("unknown-8bit")],
    ["a byte order mark precedes the header", Buffer.from(mark + declaring("windows-1251")), type("koi8-r")],
    ["UTF-16LE with a mark", le(mark + declaring("utf-16")), type("utf-8")],
    ["UTF-16BE with a mark", be(mark + declaring("UTF-16")), {}],
    ["UTF-16LE without a mark", le(declaring("utf-16")), type("utf-16")],
    ["UTF-16BE without a mark", be(declaring("UTF-16BE")), {}],
    ["UTF-8 that is declared UTF-16, as programs do", Buffer.from(declaring("utf-16")), {}],
    ["blanks before the declaration", cyrillic(`\n\n${declaring("windows-1251")}`), {}],
    ["single quotes", cyrillic(declaring("x").replace('"x"', "'WINDOWS-1251'")), {}],
    ["compressed", gzipSync(cyrillic(declaring("windows-1251"))), { "content-encoding": "gzip" }],
  ])("%s", async (_name, body, headers) => {
    const { outcome } = await unwrap({ "/tag": sends(body, headers) });
    expect(outcome).toMatchObject({ outcome: "ad", ad: { advertiser: name } });
  });

  test.each([
    ["iso-8859-1", "windows-1252"],
    ["iso-8859-2", "iso-8859-2"],
    ["ISO-8859-15", "iso-8859-15"],
    ["koi8-r", "koi8-r"],
    ["Shift_JIS", "shift_jis"],
    ["gb2312", "gbk"],
    ["made-up", "utf-8"],
    ["utf-7", "utf-8"],
  ])("%s is decoded as %s", (declared, encoding) => {
    expect(encodingOf(Buffer.from(`<?xml version='1.0' encoding='${declared}'?><VAST/>`), undefined)).toBe(encoding);
  });
});

describe("addresses are resolved as a browser does, against the document's own address", () => {
  test.each<[string, string, string]>([
    ["relative to the root", "/other/in", "/other/in"],
    ["relative to the folder", "in?x=a/b", "/a/in?x=a/b"],
    ["relative to the folder above", "../in", "/in"],
    ["a query alone", "?a/b", "/a/vast?a/b"],
    ["without a scheme", "//{host}/in", "/in"],
    ["line ends and blanks around and inside", "\n  {self}/i\nn  \n", "/in"],
    ["unencoded characters and macros", "{self}/in?q=ä b|c&cb=[CACHEBUSTING]", "/in?q=%C3%A4%20b|c&cb="],
  ])("a wrapper's tag: %s", async (_name, to, requested) => {
    const { outcome, calls } = await unwrap(
      {
        "/a/vast": (request, response) => {
          if (request.url?.startsWith("/a/vast?a/b")) return response.end(inline().replaceAll("{self}", elsewhere));
          const host = request.headers.host ?? "";
          const text = wrapper(to).replaceAll("{self}", `http://${host}`).replaceAll("{host}", host);
          response.end(text);
        },
        ...Object.fromEntries(["/in", "/a/in", "/other/in"].map((path) => [path, inline()])),
      },
      { tag: "/a/vast?x=1/2&y=3" },
    );
    expect(outcome).toMatchObject({ outcome: "ad" });
    expect(calls.map(({ url }) => url)).toEqual(["/a/vast?x=1/2&y=3", expect.stringContaining(requested)]);
  });

  test("after a redirect, against the address that it led to", async () => {
    const { outcome, address, calls } = await unwrap({
      "/tag": (_request, response) => response.writeHead(302, { location: "deep/er/tag" }).end(),
      "/deep/er/tag": wrapper("in"),
      "/deep/er/in": inline({ files: files("ad.mp4") }),
    });
    expect(outcome).toMatchObject({ outcome: "ad", ad: { mediaUrl: `${address}/deep/er/ad.mp4` } });
    expect(calls.map(({ path }) => path)).toEqual(["/tag", "/deep/er/tag", "/deep/er/in"]);
  });

  test("media, trackers, click-throughs and companions of all these forms", async () => {
    const host = elsewhere.replace("https:", "");
    const { outcome, address } = await unwrap({
      "/tag": inline({
        files: files(`<![CDATA[\n ${host}/ad ü.mp4 \n]]>`),
        tracking: `<TrackingEvents><Tracking event="start">/start?at=[ADPLAYHEAD]</Tracking><Tracking event="complete">
          ${host}/complete</Tracking></TrackingEvents>`,
        clicks: `<VideoClicks><ClickThrough>${host}/land ing</ClickThrough><ClickTracking>?click</ClickTracking></VideoClicks>`,
        companions: companion({ url: "pictures/a.png" }).replace("https://shop.example/picture", "/picture"),
        more: "<Impression>impression|1</Impression><Error> </Error>",
      }),
    });
    expect(outcome).toMatchObject({
      outcome: "ad",
      drops: {},
      ad: {
        mediaUrl: `http:${host}/ad%20%C3%BC.mp4`,
        clickThrough: `http:${host}/land%20ing`,
        companion: { imageUrl: `${address}/pictures/a.png`, clickThrough: `${address}/picture?c=[CLICKID]` },
        trackers: {
          start: [`${address}/start?at=[ADPLAYHEAD]`],
          complete: [`http:${host}/complete`],
          click: [`${address}/tag?click`],
          impression: [`${address}/inline/impression?cb=[CACHEBUSTING]`, `${address}/impression|1`],
        },
      },
    });
  });

  test("addresses that were escaped once more than their section needs mean the ones that were escaped", async () => {
    const { outcome, address, calls } = await unwrap({
      "/tag": wrapper("{self}/in?a=1&amp;b=[CACHEBUSTING]"),
      "/in": inline({
        files: files("<![CDATA[{self}/ad.mp4?a=1&amp;b=2]]>"),
        tracking: "",
        clicks: "<VideoClicks><ClickThrough>{self}/land?a=1&amp;amp;b=2</ClickThrough></VideoClicks>",
        more: "<Impression><![CDATA[{self}/seen?a=1&amp;b=[TIMESTAMP]]]></Impression>",
      }),
    });
    expect(calls.map(({ url }) => url)[1]).toMatch(/^\/in\?a=1&b=\d+$/);
    expect(outcome).toMatchObject({
      ad: {
        mediaUrl: `${address}/ad.mp4?a=1&b=2`,
        clickThrough: `${address}/land?a=1&b=2`,
        trackers: { impression: expect.arrayContaining([`${address}/seen?a=1&b=[TIMESTAMP]`]) },
      },
    });
  });

  test("what no request can be sent to is dropped and counted", async () => {
    const broken = [
      "ftp://a.b/",
      "[TRACKER]",
      "%%URL%%/x",
      "https://[HOST].b/",
      "javascript:alert(1)",
      "https://a:b@c.d/",
    ];
    const { outcome } = await unwrap({
      "/tag": inline({
        more: broken.map((url) => `<Impression><![CDATA[${url}]]></Impression>`).join(""),
        clicks: "<VideoClicks><ClickThrough>market://details?id=1</ClickThrough></VideoClicks>",
      }),
    });
    expect(outcome).toMatchObject({
      outcome: "ad",
      ad: { clickThrough: null },
      drops: { "tracker-address": broken.length, "click-address": 1 },
    });
    if (outcome.outcome === "ad") expect(outcome.ad.trackers.impression).toHaveLength(1);
  });
});

describe("an answer with nothing is no ad: no error of XML", () => {
  test.each<[string, Answer]>([
    ["204", (_request, response) => response.writeHead(204).end()],
    ["an empty body", sends("")],
    ["blanks", sends(" \r\n\t ")],
    ["a byte order mark", sends("\ufeff")],
    ["a declaration", sends('<?xml version="1.0" encoding="UTF-8"?>\n')],
    ["a comment", sends("<!-- no ad -->\n<!-- really -->")],
    ["an empty body, compressed", sends(gzipSync(""), { "content-encoding": "gzip" })],
    ["an empty VAST", sends("<VAST/>")],
    ["a VAST with blanks", sends('<VAST version="3.0">\n</VAST>')],
    ["an instruction and an empty VAST", sends('<?xml-stylesheet href="a"?><VAST version="4.2"></VAST>')],
  ])("%s", async (_name, answer) => {
    const { outcome } = await unwrap({ "/tag": answer });
    expect(outcome).toEqual({
      outcome: "no-ad",
      code: 303,
      reason: { kind: expect.any(String) },
      errors: [],
      drops: {},
    });
    const behind = await unwrap({ "/tag": wrapper("/in"), "/in": answer });
    expect(behind.outcome).toMatchObject({ code: 303, errors: [{ code: 303 }] });
  });
});

describe("what is no VAST says what it is", () => {
  test.each<[string, number, string, Answer]>([
    ["an HTML page", 100, "the answer is an HTML page", sends("<!DOCTYPE html><html><body>Not found")],
    ["JSON", 100, "the answer is JSON, not XML", sends('{"ads":[]}', { "content-type": "application/json" })],
    [
      "a VMAP playlist",
      101,
      "VMAP",
      sends('<vmap:VMAP xmlns:vmap="http://www.iab.net/videosuite/vmap" version="1.0"/>'),
    ],
    ["an unfinished tag", 100, "", sends("<VAST")],
    ["an unfinished comment", 100, "", sends("<!-- no ad")],
    ["an unfinished declaration", 100, "", sends('<?xml version="1.0"')],
    ["an unfinished attribute", 100, "", sends('<VAST version="')],
    ["text", 100, "text data", sends("no ads today")],
    ["an ampersand that is not encoded", 100, "", sends("<VAST><Error>https://a.b/?c=1&d=2</Error></VAST>")],
  ])("%s is error %i", async (_name, code, detail, answer) => {
    const { outcome } = await unwrap({ "/tag": answer });
    if (outcome.outcome === "ad") throw new Error("an ad");
    expect(outcome.code).toBe(code);
    expect(vastReasonText(vastReasonsInEnglish, outcome.reason)).toContain(detail);
  });
});

describe("elements and attributes are found however they are written", () => {
  const prefixed = inline()
    .replaceAll(/<(\/?)([A-Z])/g, "<$1vast:$2")
    .replace("xmlns=", "xmlns:vast=");
  test.each<[string, string]>([
    ["with a prefix", prefixed],
    ["in lower case", inline().replaceAll(/<(\/?)([A-Za-z]+)/g, (_all, end, name) => `<${end}${name.toLowerCase()}`)],
    [
      "attributes in upper case",
      inline().replaceAll(/ (type|delivery|width|height|event)=/g, (name) => name.toUpperCase()),
    ],
    ["events in lower case", inline().replaceAll(/event="(\w+)"/g, (event) => event.toLowerCase())],
    [
      "comments and instructions between",
      inline().replaceAll(/<(Linear|MediaFile |Duration)/g, "<!-- a --><?b c?><$1"),
    ],
    ["an address in two sections", inline().replace("ad.mp4", "ad]]><!-- x --><![CDATA[.mp4")],
  ])("%s", async (_name, text) => {
    const { outcome, address } = await unwrap({ "/tag": text });
    expect(outcome).toMatchObject({
      outcome: "ad",
      drops: {},
      ad: { mediaUrl: `${address}/ad.mp4`, width: 640, trackers: { firstQuartile: [expect.any(String)] } },
    });
  });

  test("an element of another vocabulary is not taken for one of VAST", async () => {
    const foreign = '<x:Impression xmlns:x="urn:x">https://a.b/foreign</x:Impression>';
    const { outcome } = await unwrap({ "/tag": inline({ more: foreign }) });
    if (outcome.outcome !== "ad") throw new Error(outcome.reason.kind);
    expect(outcome.ad.trackers.impression).toHaveLength(1);
  });
});

describe("types, codecs, durations", () => {
  test.each([
    ['type="VIDEO/MP4" delivery="Progressive"', "video/mp4"],
    [`type='video/mp4; codecs="avc1.42E01E, mp4a.40.2"' delivery="progressive"`, "video/mp4"],
    ['type=" video/mp4;codecs=avc1.640028 " delivery="progressive"', "video/mp4"],
    ['type="video/x-m4v" delivery="progressive"', "video/mp4"],
    [`type='video/webm; codecs="vp8, vorbis"' delivery="progressive"`, "video/webm"],
    ['type="video/mp4"', "video/mp4"],
    ['type="video/mp4" codec="AAC" delivery="progressive"', "video/mp4"],
    ["", "video/mp4"],
  ])("a file with %s is played as %s", async (attributes, mediaType) => {
    const { outcome } = await unwrap({ "/tag": inline({ files: files("/a/ad.mp4?b=c.d", attributes) }) });
    expect(outcome).toMatchObject({ outcome: "ad", drops: {}, ad: { mediaType } });
  });

  test.each([
    [`type='video/mp4; codecs="hvc1.1.6.L93.B0, mp4a.40.2"' delivery="progressive"`, "media-codec"],
    [`type="video/mp4" codec="mp4v.20.9" delivery="progressive"`, "media-codec"],
    [`type='video/mp4; codecs="mp4a.40.2"' delivery="progressive"`, "media-codec"],
    ['type="application/x-mpegURL" delivery="streaming"', "media-delivery"],
    ['type="application/x-mpegURL" delivery="progressive"', "media-type"],
    ['type="audio/mp4" delivery="progressive"', "media-type"],
    ['type="video/mp4" apiFramework="VPAID"', "media-script"],
  ])("a file with %s is error 403, and counted as %s", async (attributes, reason) => {
    const { outcome } = await unwrap({ "/tag": inline({ files: files("/ad.mp4", attributes) }) });
    expect(outcome).toMatchObject({ outcome: "no-ad", code: 403, drops: { [reason]: 1 } });
  });

  test.each([
    ["00:00:60", 60_000],
    ["00:01:75", 135_000],
    ["00:00:15.5", 15_500],
    ["0:15", 15_000],
    [" 15 ", 15_000],
  ])("a duration of %s", async (duration, durationMs) => {
    const { outcome } = await unwrap({ "/tag": inline({ duration }) });
    expect(outcome).toMatchObject({ outcome: "ad", ad: { durationMs } });
  });

  test("captions are counted", async () => {
    const captions =
      '<ClosedCaptionFiles><ClosedCaptionFile type="text/vtt" language="en">https://a.b/c.vtt</ClosedCaptionFile></ClosedCaptionFiles>';
    const { outcome } = await unwrap({ "/tag": inline({ files: files("/ad.mp4") + captions }) });
    expect(outcome).toMatchObject({ outcome: "ad", drops: { captions: 1 } });
  });
});

describe("pods behind a wrapper", () => {
  const ads = (...sequences: (number | undefined)[]) =>
    vast(
      sequences
        .map((sequence, index) =>
          inline({ files: files(`/${index}.mp4`), ...(sequence !== undefined && { sequence }) })
            .replace(/^[\s\S]*?<Ad /, "<Ad ")
            .replace("</VAST>", ""),
        )
        .join(""),
      "3.0",
    );

  test.each<[string, string, string, number | undefined]>([
    ["a single ad that has a number is shown", ads(1), "/0.mp4", undefined],
    ["a single ad with another number, too", ads(7), "/0.mp4", undefined],
    ["an ad outside of the pod precedes it", ads(1, 2, undefined), "/2.mp4", 2],
    ["of a pod alone the first is shown", ads(2, 1, 3), "/1.mp4", 2],
  ])("%s, and what is left out is counted", async (_name, inner, file, dropped) => {
    const { outcome, address } = await unwrap({ "/tag": wrapper("/in"), "/in": inner });
    expect(outcome).toMatchObject({ outcome: "ad", ad: { mediaUrl: `${address}${file}` } });
    expect(outcome.drops["pod-ad"]).toBe(dropped);
  });
});

describe("what an ad has more than one of", () => {
  const linearOf = (duration: string, attributes: string) =>
    `<Creative><Linear><Duration>${duration}</Duration><MediaFiles>${files("{self}/other.mp4", attributes)}</MediaFiles></Linear></Creative>`;
  const before = (creative: string) => inline().replace("<Creatives>", `<Creatives>${creative}`);
  const mp4 = 'type="video/mp4" delivery="progressive"';

  test.each([
    ["a script", linearOf("00:00:10", `${mp4} apiFramework="VPAID"`), { "media-script": 1 }],
    ["a stream", linearOf("00:00:10", 'type="application/x-mpegURL" delivery="streaming"'), { "media-delivery": 1 }],
    ["of no length", linearOf("00:00:00", mp4), {}],
    ["of an hour", linearOf("01:00:00", mp4), {}],
    ["empty", "<Creative sequence='1'/>", {}],
    ["without files", "<Creative><Linear><Duration>00:00:10</Duration></Linear></Creative>", {}],
  ])("a first creative that is %s does not hide the video of the next one", async (_name, creative, drops) => {
    const { outcome, address } = await unwrap({ "/tag": before(creative) });
    expect(outcome).toMatchObject({
      outcome: "ad",
      errors: [],
      ad: { mediaUrl: `${address}/ad.mp4`, durationMs: 10_000 },
    });
    const { attribute: _ofTheSample, ...others } = outcome.drops;
    expect(others).toEqual(drops);
  });

  test("if none can be shown, the first says why", async () => {
    const neither = before(linearOf("01:00:00", mp4)).replaceAll("video/mp4", "video/x-flv");
    const { outcome } = await unwrap({ "/tag": neither });
    expect(outcome).toMatchObject({
      outcome: "no-ad",
      code: 202,
      reason: { kind: "duration", milliseconds: 3_600_000 },
    });
  });
});

describe("an impression that counts once the ad was viewable (VAST 4, ViewableImpression)", () => {
  const viewable = (name: string) =>
    `<ViewableImpression id="v"><Viewable><![CDATA[ {self}/${name}/viewable ]]></Viewable><Viewable/>
    <NotViewable>{self}/not</NotViewable><ViewUndetermined>{self}/unknown</ViewUndetermined></ViewableImpression>`;
  const inWrapper = wrapper("{self}/in").replace("<VASTAdTagURI>", `${viewable("wrapper")}<VASTAdTagURI>`);

  test.each([
    ["00:00:30", "firstQuartile"],
    ["00:00:08", "firstQuartile"],
    ["00:00:07", "midpoint"],
    ["00:00:03", "thirdQuartile"],
    ["00:00:02", "complete"],
    ["00:00:01.500", "no event"],
  ])("of %s is called with %s: after two seconds of playback, by the server's clock", async (duration, event) => {
    const { outcome, address } = await unwrap({
      "/tag": inWrapper,
      "/in": inline({ duration, more: viewable("inline") }),
    });
    if (outcome.outcome !== "ad") throw new Error(outcome.reason.kind);
    const called = Object.entries(outcome.ad.trackers).filter(([, urls]) =>
      urls.some((url) => url.includes("viewable")),
    );
    expect(called.map(([name]) => name)).toEqual(event === "no event" ? [] : [event]);
    const of = (name: string) => `${address}/${name}/viewable`;
    for (const [, urls] of called) expect(urls).toEqual(expect.arrayContaining([of("wrapper"), of("inline")]));
    expect(JSON.stringify(outcome.ad.trackers)).not.toMatch(/\/not"|\/unknown"/);
  });
});

import { describe, expect, test } from "vitest";
import { type Answer, inline, vast, wrapper } from "../../test/fixtures/sample-ad-server.ts";
import { phone, unwrap } from "../../test/fixtures/unwrap-fixture.ts";

describe("samples that end in an ad", () => {
  const versions = ["2.0", "3.0", "4.0", "4.1", "4.2"];
  test.each(versions)("an inline linear ad, VAST %s", async (version) => {
    const { outcome, address } = await unwrap({ "/tag": inline({ version }) });
    expect(outcome).toMatchObject({
      outcome: "ad",
      errors: [],
      ad: {
        adId: "20001",
        adSystem: "Sample server",
        advertiser: "Sample advertiser",
        title: "Inline linear ad",
        mediaUrl: `${address}/ad.mp4`,
        mediaType: "video/mp4",
        durationMs: 10_000,
        width: 640,
        height: 360,
        clickThrough: "https://shop.example/sale?c=[CLICKID]",
        trackers: {
          impression: [`${address}/inline/impression?cb=[CACHEBUSTING]`],
          start: [`${address}/inline/creativeView?at=[ADPLAYHEAD]`, `${address}/inline/start?at=[ADPLAYHEAD]`],
          close: [`${address}/inline/closeLinear?at=[ADPLAYHEAD]`],
          click: [`${address}/inline/click`],
          error: [`${address}/inline/error?code=[ERRORCODE]`],
        },
      },
    });
  });

  test("five wrappers: the trackers of each are kept, and the macros of the tags are filled in", async () => {
    const chain = Object.fromEntries(
      [1, 2, 3, 4, 5].map((hop) => [
        `/w${hop}`,
        wrapper(`{self}/w${hop + 1}?t=[TIMESTAMP]&x=[DEVICEIP]&ids[]=1`, { name: `w${hop}` }),
      ]),
    );
    const { outcome, callsOf, calls } = await unwrap({ ...chain, "/w6": inline() }, { tag: "/w1" });
    if (outcome.outcome !== "ad") throw new Error(outcome.reason.kind);
    expect(outcome.ad.trackers.impression).toHaveLength(6);
    expect(outcome.ad.trackers.midpoint).toHaveLength(6);
    expect(outcome.ad.trackers.click).toHaveLength(6);
    expect(callsOf("/w6")).toEqual(["/w6?t=2026-03-01T12%3A00%3A00.000Z&x=-2&ids[]=1"]);
    expect(calls[0]?.headers).toMatchObject({ "x-device-user-agent": phone });
    expect(calls[0]?.headers["x-device-ip"]).toBeUndefined();
  });

  test("4.x with verification: the resources are kept, and their non-execution is reported", async () => {
    const more = `<AdVerifications><Verification vendor="company.com-omid"><JavaScriptResource apiFramework="omid" browserOptional="true">
      <![CDATA[https://verify.example/omid.js]]></JavaScriptResource><TrackingEvents><Tracking event="verificationNotExecuted">
      <![CDATA[{self}/omid?reason=[REASON]]]></Tracking></TrackingEvents><VerificationParameters><![CDATA[k=v]]></VerificationParameters>
      </Verification></AdVerifications>`;
    const { outcome, address } = await unwrap({ "/tag": inline({ version: "4.2", more }) });
    expect(outcome).toMatchObject({
      ad: {
        verifications: [
          {
            vendor: "company.com-omid",
            apiFramework: "omid",
            resource: "https://verify.example/omid.js",
            parameters: "k=v",
          },
        ],
        trackers: { verificationNotExecuted: [`${address}/omid?reason=[REASON]`] },
      },
    });
  });

  test("a redirect is followed, with the same guard", async () => {
    const { outcome } = await unwrap({
      "/tag": (_request, response) => response.writeHead(302, { location: "/there" }).end(),
      "/there": inline(),
    });
    expect(outcome).toMatchObject({ outcome: "ad" });
  });

  test("of several ads the first that can be shown is chosen, and the broken ones are reported", async () => {
    const broken = inline({ files: "", name: "broken" })
      .replace(/^[\s\S]*?<Ad /, "<Ad ")
      .replace("</VAST>", "");
    const good = inline()
      .replace(/^[\s\S]*?<Ad /, "<Ad ")
      .replace("</VAST>", "");
    const { outcome, address } = await unwrap({ "/tag": vast(broken + good, "3.0") });
    expect(outcome).toMatchObject({
      outcome: "ad",
      errors: [{ code: 403, addresses: [`${address}/broken/error?code=[ERRORCODE]`] }],
    });
  });
});

const file = (attributes: string) => `<MediaFile width="640" height="360" ${attributes}>{self}/ad</MediaFile>`;
const hang: Answer = () => {};

const failures: {
  name: string;
  code: number;
  answers: Record<string, Answer>;
  notified?: string[];
  totalMs?: number;
}[] = [
  { name: "malformed XML", code: 100, answers: { "/tag": "<VAST version='4.0'><Ad>" } },
  { name: "not XML", code: 100, answers: { "/tag": "Not found" } },
  { name: "another document", code: 101, answers: { "/tag": "<html></html>" } },
  {
    name: "a wrapper around an ad of neither kind",
    code: 101,
    notified: ["wrapper"],
    answers: { "/tag": wrapper("{self}/x"), "/x": vast("<Ad/>") },
  },
  { name: "an ad of neither kind", code: 101, answers: { "/tag": vast("<Ad id='1'></Ad>") } },
  { name: "VAST 1.0", code: 102, answers: { "/tag": "<VideoAdServingTemplate/>" } },
  { name: "VAST 9", code: 102, answers: { "/tag": vast("", "9.0") } },
  {
    name: "no video",
    code: 201,
    notified: ["inline"],
    answers: { "/tag": inline().replaceAll("Linear>", "NonLinearAds>") },
  },
  { name: "an hour of video", code: 202, notified: ["inline"], answers: { "/tag": inline({ duration: "01:00:00" }) } },
  { name: "an invalid duration", code: 202, notified: ["inline"], answers: { "/tag": inline({ duration: "soon" }) } },
  ...["-00:00:10", "00:00:-10", "00:-01:10", "-10", "00:99:99", "1e1", "0x10", "Infinity", ""].map((duration) => ({
    name: `a duration of "${duration}"`,
    code: 202,
    notified: ["inline"],
    answers: { "/tag": inline({ duration }) },
  })),
  {
    name: "a wrapper's tag refuses",
    code: 301,
    notified: ["wrapper"],
    answers: { "/tag": wrapper("{self}/x"), "/x": (_q, a) => a.writeHead(500).end() },
  },
  {
    name: "a wrapper's tag hangs",
    code: 301,
    notified: ["wrapper"],
    totalMs: 300,
    answers: { "/tag": wrapper("{self}/x"), "/x": hang },
  },
  {
    name: "a wrapper's tag is malformed",
    code: 100,
    notified: ["wrapper"],
    answers: { "/tag": wrapper("{self}/x"), "/x": "<VAST" },
  },
  {
    name: "an endless chain of wrappers",
    code: 302,
    notified: ["wrapper", "wrapper", "wrapper", "wrapper", "wrapper", "wrapper"],
    answers: { "/tag": wrapper("{self}/tag") },
  },
  {
    name: "an endless redirect",
    code: 301,
    answers: { "/tag": (_q, a) => a.writeHead(302, { location: "/tag" }).end() },
  },
  {
    name: "an empty VAST",
    code: 303,
    notified: ["root"],
    answers: { "/tag": vast("<Error>{self}/root/error?code=[ERRORCODE]</Error>") },
  },
  {
    name: "a wrapper around an empty VAST",
    code: 303,
    notified: ["wrapper"],
    answers: { "/tag": wrapper("{self}/x"), "/x": vast("") },
  },
  { name: "a response without content", code: 303, answers: {} },
  { name: "no media files", code: 403, notified: ["inline"], answers: { "/tag": inline({ files: "" }) } },
  {
    name: "only Flash",
    code: 403,
    notified: ["inline"],
    answers: { "/tag": inline({ files: file('delivery="progressive" type="video/x-flv"') }) },
  },
  {
    name: "only VPAID",
    code: 403,
    notified: ["inline"],
    answers: { "/tag": inline({ files: file('delivery="progressive" type="video/mp4" apiFramework="VPAID"') }) },
  },
  {
    name: "only streaming",
    code: 403,
    notified: ["inline"],
    answers: { "/tag": inline({ files: file('delivery="streaming" type="application/x-mpegURL"') }) },
  },
  { name: "an endless document", code: 301, answers: { "/tag": (_q, a) => a.end("x".repeat(600 * 1024)) } },
  {
    name: "a truncated document",
    code: 301,
    answers: { "/tag": (_q, a) => a.writeHead(200, { "content-length": "99999", connection: "close" }).end(inline()) },
  },
];

describe("samples that end in an error code", () => {
  test.each(failures)("$code: $name", async ({ code, answers, notified = [], totalMs }) => {
    const { outcome, address } = await unwrap(answers, totalMs === undefined ? {} : { totalMs });
    expect(outcome).toMatchObject({ outcome: "no-ad", code });
    const addresses = new Set(notified.map((name) => `${address}/${name}/error?code=[ERRORCODE]`));
    expect(outcome.errors).toEqual(addresses.size === 0 ? [] : [{ code, addresses: [...addresses] }]);
  });

  test("a tag that leads into this network is never requested, whatever addresses webhooks may reach", async () => {
    const { outcome, calls } = await unwrap({ "/tag": inline() }, { networks: [] });
    expect(outcome).toMatchObject({
      outcome: "no-ad",
      code: 301,
      reason: { kind: "no-answer", detail: expect.stringContaining("not a public address") },
    });
    expect(calls).toEqual([]);
  });

  test("a document of many wrappers causes 16 requests at most", async () => {
    const many = Array.from({ length: 40 }, (_, index) =>
      wrapper(`{self}/x${index}`)
        .replace(/^[\s\S]*?<Ad /, `<Ad sequence="${index + 1}" `)
        .replace("</VAST>", ""),
    );
    const { outcome, calls } = await unwrap({ "/tag": vast(many.join("")) });
    expect(outcome).toMatchObject({ outcome: "no-ad" });
    expect(calls).toHaveLength(16);
  });

  test("all hops together share one deadline", async () => {
    const slow: Answer = (request, response) => {
      const hop = Number(request.url?.slice(-1));
      setTimeout(() => response.end(wrapper(`http://${request.headers.host}/w${hop + 1}`)), 150);
    };
    const { outcome } = await unwrap(
      { "/w1": slow, "/w2": slow, "/w3": slow, "/w4": slow, "/w5": slow },
      { tag: "/w1", totalMs: 400 },
    );
    expect(outcome).toMatchObject({ outcome: "no-ad", code: 301 });
  });
});

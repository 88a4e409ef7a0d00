import { describe, expect, test } from "vitest";
import { companion, inline, wrapper } from "../../test/fixtures/sample-ad-server.ts";
import { type Device, describeDevice } from "../creatives/choose-rendition.ts";
import { judgeAd } from "./judge-ad.ts";
import { parseDocument } from "./parse-document.ts";
import { openTurns } from "./read-xml.ts";
import { followWrappers } from "./unwrap-tag.ts";

const phone = describeDevice({ "user-agent": "iPhone" });
const self = "https://ads.example";

const parse = (document: string) => parseDocument(openTurns(), Buffer.from(document.replaceAll("{self}", self)));

async function judge(
  document: string,
  {
    device = phone,
    isPlainHttpAllowed = false,
    inner = "",
  }: { device?: Device; isPlainHttpAllowed?: boolean; inner?: string } = {},
) {
  const root = await parse(document);
  const [first] = root.ads;
  if (!first) throw new Error("a document without an ad");
  const deps = { root, errorUrls: [], drops: {}, fetchDocument: () => parse(inner) };
  const [ad] = await followWrappers(deps, first);
  if (!ad) throw new Error("a wrapper without an ad");
  const judged = judgeAd(ad, { userAgent: "", device, isPlainHttpAllowed, now: new Date() });
  if (judged.outcome !== "ad") throw new Error(judged.reason.kind);
  return judged.ad;
}

const chosen = async (...companions: string[]) => (await judge(inline({ companions: companions.join("") }))).companion;

test.each(["2.0", "3.0", "4.0", "4.1", "4.2"])("a picture with its page and trackers, VAST %s", async (version) => {
  const ad = await judge(inline({ version, companions: companion() }));
  expect(ad.companion).toEqual({
    imageUrl: `${self}/companion.png`,
    width: 320,
    height: 480,
    clickThrough: "https://shop.example/picture?c=[CLICKID]",
  });
  expect(ad.trackers).toMatchObject({
    companionView: [`${self}/companion/view`],
    companionClick: [`${self}/companion/click`],
  });
});

test("an ad without a companion is as it was, without trackers of one", async () => {
  const ad = await judge(inline());
  expect(ad.companion).toBeUndefined();
  expect(Object.keys(ad.trackers).filter((event) => event.startsWith("companion"))).toEqual([]);
});

describe("by size", () => {
  const named = (name: string, size: [number, number], mode = "") =>
    companion({ size, mode, url: `https://a.b/${name}` });
  const choose = async (device: Device, ...companions: string[]) =>
    (await judge(inline({ companions: companions.join("") }), { device })).companion?.imageUrl.split("/").at(-1);
  const sizes = [
    named("rectangle", [300, 250]),
    named("interstitial", [320, 480]),
    named("hd", [720, 1280]),
    named("full-hd", [1080, 1920]),
  ];

  test("the one that shows the most detail in the window, and not more than the device shows", async () => {
    expect(await choose(phone, ...sizes)).toBe("hd");
    expect(await choose(describeDevice({}), ...sizes)).toBe("full-hd");
    expect(await choose(phone, ...sizes.slice(0, 2))).toBe("interstitial");
    expect(await choose(phone, named("upright", [480, 640]), named("lying", [640, 480]))).toBe("upright");
  });

  test("one that the ad declares an end card precedes larger ones", async () => {
    expect(await choose(phone, ...sizes, named("end-card", [300, 250], "end-card"))).toBe("end-card");
  });

  test.each<[string, [number, number]]>([
    ["a banner", [320, 50]],
    ["a skyscraper", [160, 600]],
    ["a billboard", [970, 250]],
    ["a picture without a size", [0, 0]],
    ["a picture that takes too much memory", [9000, 9000]],
  ])("%s is never shown", async (_name, size) => expect(await chosen(companion({ size }))).toBeUndefined());
});

test.each<[string, string]>([
  ["a script", companion({ type: "application/x-javascript" })],
  ["a vector graphic", companion({ type: "image/svg+xml" })],
  ["a picture of unknown type", companion().replace(/creativeType="[^"]*"/, "")],
  ["a frame", companion().replaceAll("StaticResource", "IFrameResource")],
  ["HTML", companion().replaceAll("StaticResource", "HTMLResource")],
  ["a picture beside the running video", companion({ mode: "concurrent" })],
  ["a picture of another scheme", companion({ url: "ftp://a.b/c.png" })],
  ["a data: address", companion({ url: "data:image/png;base64,AAAA" })],
  ["a javascript: address", companion({ url: "javascript:alert(1)" })],
  ["an address with a password", companion({ url: "https://a:b@c.d/e.png" })],
  ["a relative address", companion({ url: "picture.png" })],
  ["a long address", companion({ url: `https://a.b/${"x".repeat(5000)}` })],
])("%s is ignored, and the ad is shown", async (_name, ignored) => {
  expect(await chosen(ignored)).toBeUndefined();
  expect(await chosen(ignored, companion({ size: [300, 250] }))).toMatchObject({ width: 300 });
});

test("http is used where the page itself may use it, and https elsewhere", async () => {
  const document = inline({ companions: companion({ url: "http://a.b/c.png" }) });
  expect((await judge(document, { isPlainHttpAllowed: true })).companion?.imageUrl).toBe("http://a.b/c.png");
  expect((await judge(document, { isPlainHttpAllowed: false })).companion?.imageUrl).toBe("https://a.b/c.png");
});

test.each(["javascript:alert(1)", "https://a:b@c.d/", "//c.d/", ""])(
  "a picture whose page is '%s' is shown, and leads to the video's page",
  async (page) => {
    const hostile = companion().replace(/<!\[CDATA\[ https:\/\/shop[^\]]*\][^<]*/, `<![CDATA[${page}]]>`);
    expect(await chosen(hostile)).toMatchObject({ width: 320, clickThrough: null });
  },
);

test("the first resource, page and size count, and everything is bounded", async () => {
  const urls = Array.from({ length: 100 }, (_, index) => `https://a.b/${index}`);
  const many = urls.map((url) => `<CompanionClickTracking>${url}</CompanionClickTracking>`).join("");
  const again = `<StaticResource creativeType="image/gif">https://a.b/other</StaticResource>
    <CompanionClickThrough>https://a.b/other</CompanionClickThrough>${many}</Companion>`;
  const ad = await judge(inline({ companions: companion().replace("</Companion>", again) }));
  expect(ad.companion).toMatchObject({
    imageUrl: `${self}/companion.png`,
    clickThrough: "https://shop.example/picture?c=[CLICKID]",
  });
  expect(ad.trackers.companionClick).toHaveLength(32);
  const document = await parse(inline({ companions: companion().repeat(500) }));
  expect(document.ads[0]?.companions).toHaveLength(32);
});

describe("through wrappers", () => {
  const ofWrapper = companion({ url: "{self}/wrapper.png" });

  test("the ad's own companion precedes the wrapper's", async () => {
    const ad = await judge(wrapper(self, { companions: ofWrapper }), { inner: inline({ companions: companion() }) });
    expect(ad.companion?.imageUrl).toBe(`${self}/companion.png`);
  });

  test("the wrapper's is shown if the ad has none", async () => {
    const ad = await judge(wrapper(self, { companions: ofWrapper }), { inner: inline() });
    expect(ad.companion?.imageUrl).toBe(`${self}/wrapper.png`);
    expect(ad.trackers.companionView).toEqual([`${self}/companion/view`]);
  });
});

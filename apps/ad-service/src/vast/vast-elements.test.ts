import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { companion, inline, wrapper } from "../../test/fixtures/sample-ad-server.ts";
import { unwrap } from "../../test/fixtures/unwrap-fixture.ts";
import type { Drops } from "./drops.ts";
import { parseDocument } from "./parse-document.ts";
import { openTurns } from "./read-xml.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/serving.md"), "utf8");
/** `- **used**: `Ad/InLine/AdTitle`, …`: what is done with each element; those around a used one are used, too. */
const listed = [...page.matchAll(/^- \*\*(used|counted|`[a-z-]+`)\*\*[^:]*: (.*)$/gm)].flatMap(
  ([, use = "", paths = ""]) =>
    [...paths.matchAll(/`((?:VAST|Ad)[\w/]*)`/g)].map(([, path = ""]) => ({ path, use: use.replaceAll("`", "") })),
);
const around = new Set(
  listed.flatMap(({ path }) => {
    const parts = path.split("/");
    return parts.slice(1).map((_part, count) => parts.slice(0, count + 1).join("/"));
  }),
);
const rows = [
  ...listed,
  ...[...around].filter((path) => listed.every((row) => row.path !== path)).map((path) => ({ path, use: "used" })),
];
const base = "https://ads.test/vast";

async function dropsOf(xml: string): Promise<Drops> {
  const drops: Drops = {};
  await parseDocument(openTurns(), Buffer.from(xml), { url: base, drops });
  return drops;
}

/** A document with this element alone, inside of its parents. */
function documentWith(path: string): string {
  const parts = ["VAST", ...path.split("/").filter((part) => part !== "VAST")];
  const opened = parts.map((part) => `<${part}${attributes[part] ?? ""}>`).join("");
  return `${opened}${texts[parts.at(-1) ?? ""] ?? ""}${parts
    .toReversed()
    .map((part) => `</${part}>`)
    .join("")}`;
}
const attributes: Record<string, string> = {
  VAST: ' version="4.3"',
  StaticResource: ' creativeType="image/png"',
  Tracking: ' event="start"',
};
const texts: Record<string, string> = { StaticResource: "https://ads.test/a.png" };

describe("the documentation's lists of VAST's elements", () => {
  test("have each element of VAST 4.3", () => {
    // The schema's elements, without the repeated ones of wrappers and companions.
    const names =
      `VAST Ad InLine Wrapper Error AdSystem AdTitle AdServingId Impression Category Description Advertiser Pricing
      Survey Expires ViewableImpression Viewable NotViewable ViewUndetermined AdVerifications Verification JavaScriptResource
      ExecutableResource VerificationParameters Extensions Extension Creatives Creative UniversalAdId CreativeExtensions Linear
      Duration MediaFiles MediaFile Mezzanine InteractiveCreativeFile ClosedCaptionFiles ClosedCaptionFile AdParameters
      TrackingEvents Tracking VideoClicks ClickThrough ClickTracking CustomClick Icons NonLinearAds CompanionAds Companion
      StaticResource IFrameResource HTMLResource AltText CompanionClickThrough CompanionClickTracking VASTAdTagURI
      BlockedAdCategories`.split(/\s+/);
    const described = new Set(rows.map(({ path }) => path.split("/").at(-1)));
    expect(names.filter((name) => !described.has(name))).toEqual([]);
  });

  test.each(rows)("$path is $use", async ({ path, use }) => {
    const { companion: _unseen, ...drops } = await dropsOf(documentWith(path));
    expect(drops).toEqual(use === "used" ? {} : use === "counted" ? { element: 1 } : { [use]: 1 });
  });

  /** Each attribute of VAST 4.3 (and `idValue` of 4.0): those before the bar are used, the others counted. */
  const attributeRows: [path: string, attributes: string][] = [
    ["VAST", "version | xmlns:xs"],
    ["Ad", "id sequence | conditionalAd adType"],
    ["Ad/InLine/AdSystem", "| version"],
    ["Ad/InLine/Category", "authority |"],
    ["Ad/InLine/Impression", "| id"],
    ["Ad/InLine/ViewableImpression", "| id"],
    ["Ad/InLine/AdVerifications/Verification", "vendor apiFramework |"],
    ["Ad/InLine/AdVerifications/Verification/JavaScriptResource", "apiFramework | browserOptional"],
    ["Ad/InLine/AdVerifications/Verification/ExecutableResource", "apiFramework | type"],
    ["Ad/InLine/Extensions/Extension", "| type"],
    ["Ad/InLine/Creatives/Creative", "| id sequence adId apiFramework"],
    ["Ad/InLine/Creatives/Creative/UniversalAdId", "idRegistry idValue |"],
    ["Ad/InLine/Creatives/Creative/Linear", "| skipoffset"],
    [
      "Ad/InLine/Creatives/Creative/Linear/MediaFiles/MediaFile",
      `delivery type codec apiFramework bitrate width height
      | id minBitrate maxBitrate scalable maintainAspectRatio fileSize mediaType`,
    ],
    ["Ad/InLine/Creatives/Creative/Linear/TrackingEvents/Tracking", "event offset |"],
    ["Ad/InLine/Creatives/Creative/Linear/VideoClicks/ClickThrough", "| id"],
    ["Ad/InLine/Creatives/Creative/Linear/VideoClicks/ClickTracking", "| id"],
    ["Ad/InLine/Creatives/Creative/CompanionAds", "required |"],
    [
      "Ad/InLine/Creatives/Creative/CompanionAds/Companion",
      `width height renderingMode
      | id assetWidth assetHeight expandedWidth expandedHeight apiFramework adSlotId pxratio`,
    ],
    ["Ad/InLine/Creatives/Creative/CompanionAds/Companion/StaticResource", "creativeType |"],
    ["Ad/InLine/Creatives/Creative/CompanionAds/Companion/CompanionClickTracking", "| id"],
    ["Ad/Wrapper", "followAdditionalWrappers allowMultipleAds | fallbackOnNoAd"],
    ["Ad/Wrapper/BlockedAdCategories", "authority |"],
  ];
  const cases = attributeRows.flatMap(([path, names]) => {
    const [used = [], counted = []] = names.split("|").map((part) => part.split(/\s+/).filter(Boolean));
    const ofUse = (use: string) => (attribute: string) => ({ path, attribute, use });
    return [...used.map(ofUse("used")), ...counted.map(ofUse("counted"))];
  });

  test.each(cases)("the attribute $attribute of $path is $use", async ({ path, attribute, use }) => {
    const element = path.split("/").at(-1) ?? "";
    const document = documentWith(path);
    const opened = new RegExp(`<${element}(?=[ >])`);
    const isThere = new RegExp(`${opened.source}[^>]* ${attribute}=`).test(document);
    const xml = isThere ? document : document.replace(opened, `<${element} ${attribute}="1"`);
    expect(xml).toContain(`${attribute}=`);
    const { attribute: dropped = 0 } = await dropsOf(xml);
    expect(dropped).toBe(use === "used" || attribute.includes(":") ? 0 : 1);
  });

  test("an event that is not called is counted", async () => {
    const tracking = `<TrackingEvents><Tracking event="rewind">https://a.test/</Tracking>
      <Tracking event="progress" offset="soon">https://a.test/</Tracking></TrackingEvents>`;
    const { outcome } = await unwrap({ "/tag": inline({ tracking }) });
    expect(outcome.drops).toMatchObject({ event: 2 });
  });
});

describe("what the documents say decides", () => {
  test("a wrapper without an address calls its Error with 300", async () => {
    const empty = wrapper("").replace(/<VASTAdTagURI>.*?<\/VASTAdTagURI>/s, "");
    expect(empty).not.toContain("VASTAdTagURI");
    for (const tag of [empty, wrapper("")]) {
      const { outcome, address } = await unwrap({ "/tag": tag });
      expect(outcome).toMatchObject({ outcome: "no-ad", code: 300, reason: { kind: "wrapper-without-address" } });
      expect(outcome.errors).toEqual([{ code: 300, addresses: [expect.stringContaining(`${address}/wrapper/error`)] }]);
    }
  });

  test("an ad of a category that a wrapper blocks is not shown, and the blocked ones stand in its request", async () => {
    const blocking = (code: string) =>
      wrapper("{self}/inline?not=[BLOCKEDADCATEGORIES]").replace(
        "</Wrapper>",
        `<BlockedAdCategories authority="iabtechlab.com">${code}, 7</BlockedAdCategories></Wrapper>`,
      );
    const answer = inline({ more: '<Category authority="iabtechlab.com">225</Category>' });
    const { outcome, callsOf } = await unwrap({ "/tag": blocking("225"), "/inline": answer });
    expect(outcome).toMatchObject({ outcome: "no-ad", code: 205 });
    expect(callsOf("/inline")).toEqual(["/inline?not=225%2C7"]);
    expect((await unwrap({ "/tag": blocking("226"), "/inline": answer })).outcome).toMatchObject({ outcome: "ad" });
  });

  test.each([
    ["all", 2, "no-ad"],
    ["all", 1, "ad"],
    ["any", 2, "ad"],
    ["none", 2, "ad"],
  ])("companions that are required (%s) of %i: %s", async (required, count, expected) => {
    const answer = inline({ companions: companion().repeat(count) }).replace(
      "<CompanionAds",
      `<CompanionAds required="${required}"`,
    );
    expect(answer).toContain("required=");
    const { outcome } = await unwrap({ "/tag": answer });
    expect(outcome).toMatchObject(expected === "ad" ? { outcome: "ad" } : { outcome: "no-ad", code: 602 });
  });

  test("any companion is required, and none can be shown", async () => {
    const answer = inline({
      companions: '<Companion width="300" height="250"><HTMLResource>x</HTMLResource></Companion>',
    });
    const { outcome } = await unwrap({ "/tag": answer.replace("<CompanionAds", '<CompanionAds required="any"') });
    expect(outcome).toMatchObject({ outcome: "no-ad", code: 602 });
  });

  test("names, expiry and progress are kept with the ad", async () => {
    const tracking = `<TrackingEvents><Tracking event="progress" offset="00:00:03">https://a.test/3</Tracking>
      <Tracking event="progress" offset="50%">https://a.test/half</Tracking>
      <Tracking event="fullscreen">https://a.test/full</Tracking></TrackingEvents>`;
    const more =
      "<AdServingId>srv-1</AdServingId><Expires>600</Expires><Category authority='iab'>1</Category><Category authority='iab'>2</Category>";
    const answer = inline({ tracking, more }).replace(
      "<Linear>",
      '<UniversalAdId idRegistry="ad-id.org">CNPA 1</UniversalAdId><Linear>',
    );
    const { outcome } = await unwrap({ "/tag": answer });
    expect(outcome).toMatchObject({
      outcome: "ad",
      ad: {
        named: { adServingId: "srv-1", universalAdId: "ad-id.org CNPA 1", adCategories: "1,2" },
        expiresAt: "2026-03-01T12:10:00.000Z",
        progressTrackers: [
          { offsetMs: 3000, url: "https://a.test/3" },
          { offsetMs: 5000, url: "https://a.test/half" },
        ],
        trackers: { playerExpand: ["https://a.test/full"] },
      },
    });
  });
});

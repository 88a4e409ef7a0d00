import { describe, expect, test } from "vitest";
import { orderCaptions } from "./order-captions.ts";

const byLanguage = (a: { language: string }, b: { language: string }) => (a.language < b.language ? -1 : 1);

describe("the captions for a viewer", () => {
  const shown = (offered: string, viewer: string) => {
    const captions = offered.split(" ").map((language) => ({ language }));
    const ordered = orderCaptions(captions, viewer.split(" ").filter(Boolean));
    expect(ordered.toSorted(byLanguage)).toEqual(captions.toSorted(byLanguage));
    return ordered[0]?.language;
  };

  test.each([
    // The language itself, also one that the app's own texts lack.
    ["pt", "ar en-GB pt-BR", "pt-BR"],
    ["de", "de en fr", "de"],
    ["fr-CA", "de en fr", "fr"],
    ["DE-at", "de en", "de"],
    // The same tag comes before its beginning, and its beginning before another region.
    ["pt-PT", "pt-BR pt-PT", "pt-PT"],
    ["pt-br", "pt-BR pt-PT", "pt-BR"],
    ["pt_BR", "pt pt-BR pt-PT", "pt-BR"],
    ["pt-PT", "en pt pt-BR", "pt"],
    ["pt-PT", "en pt-BR", "pt-BR"],
    ["es-MX", "es-419 es-ES en", "es-419"],
    ["en-AU", "en-GB en-US en", "en"],
    // Scripts, named or implied by the region.
    ["zh-hans", "en zh-Hans zh-Hant", "zh-Hans"],
    ["zh-hant", "en zh-Hans zh-Hant", "zh-Hant"],
    ["zh-CN", "en zh-Hant zh-Hans", "zh-Hans"],
    ["zh-TW", "en zh-Hans zh-Hant", "zh-Hant"],
    ["zh-HK", "zh zh-TW", "zh-TW"],
    ["zh-Hans-SG", "zh-Hant zh", "zh"],
    ["zh", "zh-Hant zh-Hans", "zh-Hans"],
    ["zh-Hant", "en zh-Hans", "zh-Hans"],
    ["sr-Latn", "sr sr-Latn", "sr-Latn"],
    ["sr", "sr-Latn sr-Cyrl", "sr-Cyrl"],
    ["sr-RS", "sr-Latn sr", "sr"],
    ["sh", "sr sr-Latn", "sr-Latn"],
    // Codes that changed, and Norwegian.
    ["iw", "en he", "he"],
    ["in", "en id", "id"],
    ["tl", "en fil", "fil"],
    ["nb", "en no", "no"],
    ["no", "en nb", "nb"],
    ["nb-NO", "nn nb", "nb"],
    ["nn", "nb nn", "nn"],
    ["nn", "en nb", "nb"],
    // Further languages of the viewer, then English, then the first.
    ["hi", "ar en-GB pt-BR", "en-GB"],
    ["gsw de en", "de en", "de"],
    ["hi", "tr uk", "tr"],
    ["", "tr en", "en"],
    // What is no language tag.
    ["zh-hans-raw", "en zh-Hans", "zh-Hans"],
    ["en-raw", "de en", "en"],
    ["* ??? _ e", "de en", "en"],
  ])("a viewer of %s is shown, of %s, the captions in %s", (viewer, offered, expected) => {
    expect(shown(offered, viewer)).toBe(expected);
  });

  test("a header of thousands of languages, or of one with thousands of parts, takes no time", () => {
    const offered = [{ language: "de" }, { language: "en" }];
    const hostile = [Array(5000).fill("q-q-q").join(","), Array(8000).fill("q").join("-"), "x".repeat(16_000)];
    const start = process.threadCpuUsage();
    for (const tag of hostile) expect(orderCaptions(offered, [tag])[0]?.language).toBe("en");
    expect(orderCaptions(offered, [...Array(5000).fill("q-q"), "de"])[0]?.language).toBe("en");
    // The time of this thread: others keep a busy machine's processors, too.
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(100);
  });

  test("without captions there are none", () => {
    expect(orderCaptions([], ["en"])).toEqual([]);
  });
});

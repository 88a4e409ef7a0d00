import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linkAddress } from "./link-address.ts";

const code = "ABCDEFGHJKMNPQRSTU";
const link = `/${code}`;

describe("a link as people send it leads to its code", () => {
  // biome-ignore format: packed
  const endings = [
    "/", "/?fbclid=IwAR0x", "//", "/.", "/)", ".", ",", "!", ")", "]", "}", ">", '"', "'", "*", "_", "~", ":", "`",
    "|", "...", ".)", '").', "%20", "%0A", "%0d%0a", "%09", "+", "%C2%A0", "%22", "%27", "%3E", "%29.", "%5D", "%60",
    "%2F",
    // «, », ”, “, „, …, 。, ） and letters of other alphabets.
    "%C2%AB", "%c2%bb", "%E2%80%9D", "%e2%80%9c", "%E2%80%9E", "%E2%80%A6", "%E3%80%82", "%EF%BC%89", "%D0%B8",
    // U+200B, U+200E, U+2060, U+FEFF, a soft hyphen.
    "%E2%80%8B", "%e2%80%8e", "%E2%81%A0", "%EF%BB%BF", "%C2%AD", "%E2%80%8B.%20",
    "%3Ffbclid=IwAR0x", "%3futm_source=a%26b", "&utm_source=x", "&amp;utm_source=x", "%26amp%3Ba=b", ";x", "#x",
    "%23x",
    "/%3Ffbclid=1", "/#/", "/&amp;a=b", "?", "??a=b", "?a=/b/c", ".?utm_source=x", ");a=1",
    "%", "%z", "%zz", "%2", "%E2%80", "%BB", "%FF%FE", "%00", "%u200b", "%%20", "%25", "%2520",
    "%20and%20more", "](https://x.example/y)", "%5D(https://x.example/y)", "%7Chttps://x.example/y%3E", ")%20x/y",
    "%0Ahttps://x.example/y", "%3C/a%3E", "%22%3Eclick%3C/a%3E", ".%20Thanks", "0", "l.", "O?a=b",
  ];
  test.each(endings)("%s behind it", (ending) => {
    // The query of a plain link may stay: no route looks at it.
    expect(linkAddress(link + ending).replace(/\?.*/, "")).toBe(link);
  });

  // biome-ignore format: packed
  test.each([
    `/${link}`, `//${link}`, `/.${link}`, `/%20${code}`, `/%20/${code}`, `/%E2%80%8B${code}`, `/%EF%BB%BF${code}.`,
    `/(${code})`, `/%C2%AB${code}%C2%BB`, `/%22${code}%22`, `/%/${code}`, `/%2F${code}`, `/@${code}`,
    "/ABCD%E2%80%8BEFGH%C2%ADJKMN%E2%81%A0PQRSTU", "/%41BCDEFGHJKMNPQRST%55.",
    `/%${code}`, `/%${code}.${code}`, `/${code}%E2%80%8Bx%`,
  ])("%j", (address) => expect(linkAddress(address)).toBe(link));

  test("the page of a link that lost or gained letters is the same with and without dirt", () => {
    for (const word of ["halfALink", `${code}S`, code.slice(1), `${code}2`]) {
      for (const address of [`/${word}/`, `/${word}.`, `//${word}`, `/${word}%20`, `/${word}/?fbclid=1`, `/(${word})`])
        expect(linkAddress(address), address).toBe(`/${word}`);
    }
  });
});

describe("other addresses stay as they are", () => {
  // biome-ignore format: packed
  test.each([
    "/", "//", "/?code=ABCDEFGHJKMNPQRSTU", `/x${link}`, `${link}/x`, `${link}/${code}`, `${link}%2Fx`, `/x/${code}.`,
    "/app/7", "//app/7", "//app/7?a=b", `/app/7?code=${code}.`, `/app/${code}`, "/app/%zz", "/app", "/app/",
    "/client/v1/codes/%zz", `/client/v1/codes/${code}.`, "/player/v1/sessions/%", "/operator/v1/bots/%E2", "/media/%",
    "/healthz", "/readyz/", "/metrics", "/docs/x", "/favicon.ico", "/robots.txt", "/apple-touch-icon.png",
    "/manifest.json",
    "*", "", `http://host.example/${code}`, `/${"A".repeat(100)}.`, `/${"%20".repeat(50)}`,
  ])("%s", (address) => expect(linkAddress(address)).toBe(address));

  test("a code of other letters is not one: look-alikes stand for no letter", () => {
    for (const address of ["/0BCDEFGHJKMNPQRS.", "/ABCDEFGHJKMNPQRl/", "/%D0%90BCDEFGHJKMNPQRS"]) {
      expect(linkAddress(address)).not.toBe(link);
    }
  });

  test("an address with percent signs that begin no character leads nowhere instead of being malformed", () => {
    for (const [address, served] of [
      ["/%", "/%25"],
      ["/x/%zz/%41", "/x/%25zz/%2541"],
      ["/x%E2%80", "/x%25E2%2580"],
      ["/x/%FF?a=%41", "/x/%25FF?a=%41"],
    ] as const)
      expect(linkAddress(address)).toBe(served);
  });
});

test("every address has one that can be decoded, and which stays as it is", () => {
  const parts = fc.constantFrom(
    "/",
    "%",
    "%20",
    "%25",
    "%E2%80%8B",
    "%BB",
    "?",
    "&amp;",
    ";",
    ".",
    code,
    "x",
    "app",
    "é",
    "\u200b",
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (list) => {
      const address = `/${list.join("")}`;
      const served = linkAddress(address);
      if (!/^\/app\//.test(address)) expect(() => decodeURIComponent(served.replace(/\?.*$/s, ""))).not.toThrow();
      expect(linkAddress(served)).toBe(served);
    }),
  );
});

test.each([
  ["percent signs", `/${"%".repeat(15_000)}`],
  ["escapes", `/${"%e2%80%8b".repeat(1600)}x`],
  ["slashes", `${"/".repeat(15_000)}x`],
  ["look-alikes", `${link}${"0".repeat(15_000)}`],
  ["invisible characters", `/${"\u200b".repeat(15_000)}x`],
])("an address of 15 kB of %s is judged immediately", (_what, address) => {
  const start = process.threadCpuUsage();
  for (let round = 0; round < 20; round++) linkAddress(address);
  // The time of this thread: others keep a busy machine's processors, too.
  expect(process.threadCpuUsage(start).user / 1000 / 20).toBeLessThan(20);
});

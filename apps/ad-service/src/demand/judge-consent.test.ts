import { GppModel, RangeEntry } from "@iabgpp/cmpapi";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { BitReader } from "./bit-reader.ts";
import { isPermitted, judgeConsent } from "./judge-consent.ts";

const VENDOR = 755;
/** The consent platform, without which no string is valid. */
const platform = { CmpId: 31, CmpVersion: 1, VendorListVersion: 100 };

function gpp(fields: Readonly<Record<string, unknown>>, section = "usnat"): string {
  const model = new GppModel();
  for (const [name, value] of Object.entries(fields)) model.setFieldValue(section, name, value);
  return model.encode();
}

interface StatedConsent {
  purposes: number[];
  interests?: number[];
  vendors: number[];
  restrictions?: { key: number; type: number; rangeEntry: number[] }[];
}

const gppOfTcf = ({ purposes, interests = [], vendors, restrictions = [] }: StatedConsent) => {
  const flags = (ids: number[]) => Array.from({ length: 24 }, (_, index) => ids.includes(index + 1));
  const fields = {
    ...platform,
    PurposeConsents: flags(purposes),
    PurposeLegitimateInterests: flags(interests),
    VendorConsents: vendors,
  };
  const ranges = restrictions.map(({ key, type, rangeEntry }) => new RangeEntry(key, type, rangeEntry));
  return gpp({ ...fields, PublisherRestrictions: ranges }, "tcfeuv2");
};

/** A string of TCF, which a string of GPP has as one of its sections. */
const tcf = (consent: StatedConsent) => gppOfTcf(consent).split("~")[1] ?? "";

/** Bits as a text, as these strings are written. */
function lettersOf(bits: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return (bits.match(/.{1,6}/g) ?? []).map((six) => letters[Number.parseInt(six.padEnd(6, "0"), 2)]).join("");
}
const binary = (value: number, bits: number) => value.toString(2).padStart(bits, "0");
/** Of the core, until the vendors with consent, with all purposes. */
const head = binary(2, 6) + "0".repeat(146) + "1".repeat(24) + "0".repeat(37);
const noVendors = "0".repeat(17);
/** As many ranges of all vendors as 4,096 letters hold. */
const everyone = (count: number) => binary(count, 12) + `1${binary(1, 16)}${binary(65_535, 16)}`.repeat(count);

const full = tcf({ purposes: [1, 2, 3, 4], vendors: [VENDOR] });

test("an address and an id are permitted only by consent to both purposes that names the vendor, or where none is needed", () => {
  expect(judgeConsent(undefined, VENDOR)).toBe("none");
  expect(judgeConsent({}, VENDOR)).toBe("none");
  expect(judgeConsent({ gdpr: true }, VENDOR)).toBe("none");
  expect(judgeConsent({ gdpr: false }, null)).toBe("not-needed");
  expect(judgeConsent({ tcf: full }, VENDOR)).toBe("consented");
  expect(judgeConsent({ gdpr: true, tcf: full }, VENDOR)).toBe("consented");
  expect(judgeConsent({ tcf: full }, null), "a buyer without a number").toBe("other-vendor");
  expect(judgeConsent({ tcf: full }, VENDOR + 1)).toBe("other-vendor");
  expect(judgeConsent({ tcf: tcf({ purposes: [2], vendors: [VENDOR] }) }, VENDOR)).toBe("refused");
  expect(judgeConsent({ tcf: tcf({ purposes: [1], vendors: [VENDOR] }) }, VENDOR)).toBe("refused");
  expect(judgeConsent({ gdpr: false, tcf: tcf({ purposes: [], vendors: [] }) }, VENDOR)).toBe("not-needed");
});

test("a legitimate interest is no consent, and what the publisher restricts is not consented to", () => {
  const byInterest = tcf({ purposes: [1], interests: [2], vendors: [VENDOR] });
  expect(judgeConsent({ tcf: byInterest }, VENDOR)).toBe("refused");
  const restricted = (key: number, type: number, rangeEntry: number[]) =>
    tcf({ purposes: [1, 2], vendors: [VENDOR, 9], restrictions: [{ key, type, rangeEntry }] });
  for (const purpose of [1, 2]) {
    expect(judgeConsent({ tcf: restricted(purpose, 0, [VENDOR]) }, VENDOR), "not allowed").toBe("refused");
    expect(judgeConsent({ tcf: restricted(purpose, 2, [8, VENDOR]) }, VENDOR), "by interest").toBe("refused");
    expect(judgeConsent({ tcf: restricted(purpose, 1, [VENDOR]) }, VENDOR), "by consent").toBe("consented");
    expect(judgeConsent({ tcf: restricted(purpose, 0, [VENDOR]) }, 9), "of another vendor").toBe("consented");
  }
  expect(judgeConsent({ tcf: restricted(3, 0, [VENDOR]) }, VENDOR), "another purpose").toBe("consented");
});

test("vendors are read as bits and as ranges", () => {
  const many = tcf({ purposes: [1, 2], vendors: [VENDOR, 2, 3, 4, 5, 6, 7, 8, 60_000] });
  for (const vendor of [2, 8, VENDOR, 60_000]) expect(judgeConsent({ tcf: many }, vendor)).toBe("consented");
  for (const vendor of [1, 9, VENDOR + 1, 65_535]) expect(judgeConsent({ tcf: many }, vendor)).toBe("other-vendor");
  const few = tcf({ purposes: [1, 2], vendors: [1, 3, 5, 7] });
  for (let vendor = 1; vendor <= 9; vendor += 1)
    expect(judgeConsent({ tcf: few }, vendor)).toBe([1, 3, 5, 7].includes(vendor) ? "consented" : "other-vendor");
});

test("each string is read once for all buyers of an opening, and ranges are not expanded", () => {
  // Either expansion takes minutes or ends the process: the test ends because there is none.
  expect(judgeConsent({ gpp: "DBAB4AAAAAAAAAw" }, VENDOR), "sections 1 to 10¹²").toBe("unreadable");
  const vendors = lettersOf(`${head}${binary(65_535, 16)}1${everyone(700)}${noVendors}${binary(0, 12)}`);
  expect(vendors.length).toBeLessThanOrEqual(4096);
  const read = vi.spyOn(BitReader.prototype, "number");
  onTestFinished(() => read.mockRestore());
  const consent = { tcf: vendors };
  for (let vendor = 1; vendor <= 500; vendor += 1) expect(judgeConsent(consent, vendor)).toBe("consented");
  expect(read.mock.calls.length).toBeLessThan(1500);
  const restrictions = lettersOf(
    `${head}${noVendors}${noVendors}${binary(1, 12)}${binary(2, 6)}${binary(0, 2)}${everyone(700)}`,
  );
  expect(judgeConsent({ tcf: restrictions }, VENDOR)).toBe("other-vendor");
  const tooMany = lettersOf(`${head}${binary(65_535, 16)}1${binary(4095, 12)}`);
  for (const text of [tooMany, lettersOf(`${head}${binary(65_535, 16)}0`)])
    expect(judgeConsent({ tcf: text }, VENDOR), "more than the string holds").toBe("unreadable");
  expect(judgeConsent({ gpp: `${"DBAB4AAAAAAAAAw"}~${vendors.slice(0, 4000)}` }, VENDOR)).toBe("unreadable");
});

test("who has opted out in a section of GPP that applies is sent without, whatever the other string says", () => {
  const [out, not] = [gpp({ SaleOptOut: 1 }), gpp({ SaleOptOut: 2, SharingOptOut: 2 })];
  expect(judgeConsent({ gpp: out }, VENDOR)).toBe("opted-out");
  expect(judgeConsent({ gpp: not }, VENDOR)).toBe("consented");
  expect(judgeConsent({ gpp: gpp({ Gpc: true, GpcSegmentIncluded: true }) }, VENDOR)).toBe("opted-out");
  expect(judgeConsent({ gpp: gpp({ OptOutSale: "Y" }, "uspv1") }, VENDOR)).toBe("opted-out");
  expect(judgeConsent({ tcf: full, gpp: out }, VENDOR)).toBe("opted-out");
  expect(judgeConsent({ gdpr: false, gpp: out }, VENDOR)).toBe("opted-out");
  expect(judgeConsent({ gpp: out, gpp_sid: [-1] }, VENDOR), "none applies").toBe("not-needed");
  expect(judgeConsent({ gpp: not, gpp_sid: [8] }, VENDOR), "the section is not in it").toBe("unreadable");
});

test("the section of the European Union in a string of GPP is judged as a string of TCF is", () => {
  const both = gppOfTcf({ purposes: [1, 2], vendors: [VENDOR] });
  expect(judgeConsent({ gpp: both }, VENDOR)).toBe("consented");
  expect(judgeConsent({ gpp: both }, 1)).toBe("other-vendor");
  expect(judgeConsent({ gpp: gppOfTcf({ purposes: [1], vendors: [VENDOR] }) }, VENDOR)).toBe("refused");
  expect(judgeConsent({ gdpr: true, gpp: both }, VENDOR), "it is what the law asks for").toBe("consented");
  expect(judgeConsent({ gdpr: true, gpp: both, gpp_sid: [-1] }, VENDOR), "it does not apply").toBe("none");
  expect(judgeConsent({ gdpr: true, gpp: gpp({ SaleOptOut: 2 }) }, VENDOR), "another law").toBe("none");
});

test("no text is permitted that cannot be read, and none throws", () => {
  const broken = [full.slice(0, 12), "", "%%%", "A".repeat(4096)];
  for (const text of broken) expect(isPermitted(judgeConsent({ tcf: text }, VENDOR)), text.slice(0, 20)).toBe(false);
  const letters = fc.string({
    unit: fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789-_~."),
    maxLength: 4096,
    size: "max",
  });
  // Some begin as they should.
  const begun = fc
    .tuple(fc.constantFrom("", "C", "D", "DBAB", "DBAC", full), letters)
    .map((parts) => parts.join("").slice(0, 4096));
  fc.assert(
    fc.property(begun, fc.boolean(), (text, isGpp) => {
      const outcome = judgeConsent(isGpp ? { gpp: text } : { tcf: text }, VENDOR);
      expect(outcome).not.toBe("not-needed");
    }),
  );
});

import { GppModel } from "@iabgpp/cmpapi";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isPermitted, judgeConsent } from "./judge-consent.ts";

const VENDOR = 755;
/** The consent platform, without which no string is valid. */
const platform = { CmpId: 31, CmpVersion: 1, VendorListVersion: 100 };

function gpp(fields: Readonly<Record<string, unknown>>, section = "usnat"): string {
  const model = new GppModel();
  for (const [name, value] of Object.entries(fields)) model.setFieldValue(section, name, value);
  return model.encode();
}

/** A string of TCF, which a string of GPP has as one of its sections. */
function tcf({ purposes, vendors }: { purposes: number[]; vendors: number[] }): string {
  const consents = Array.from({ length: 24 }, (_, index) => purposes.includes(index + 1));
  return gpp({ ...platform, PurposeConsents: consents, VendorConsents: vendors }, "tcfeuv2").split("~")[1] ?? "";
}

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
  const inGpp = (purposes: boolean[]) =>
    gpp({ ...platform, PurposeConsents: purposes, VendorConsents: [VENDOR] }, "tcfeuv2");
  expect(judgeConsent({ gpp: inGpp([true, true]) }, VENDOR)).toBe("consented");
  expect(judgeConsent({ gpp: inGpp([true, true]) }, 1)).toBe("other-vendor");
  expect(judgeConsent({ gpp: inGpp([true, false]) }, VENDOR)).toBe("refused");
});

test("no text is permitted that cannot be read, and none throws", () => {
  const broken = [full.slice(0, 12), "", "%%%", "A".repeat(4096)];
  for (const text of broken) expect(isPermitted(judgeConsent({ tcf: text }, VENDOR)), text.slice(0, 20)).toBe(false);
  const letters = fc.string({
    unit: fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789-_~."),
    maxLength: 80,
  });
  fc.assert(
    fc.property(letters, fc.boolean(), (text, isGpp) => {
      const outcome = judgeConsent(isGpp ? { gpp: text } : { tcf: text }, VENDOR);
      expect(outcome).not.toBe("not-needed");
    }),
  );
});

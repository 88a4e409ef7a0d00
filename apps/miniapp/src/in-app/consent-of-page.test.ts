import { expect, test } from "vitest";
import { consentOfPage } from "./consent-of-page.ts";

type Page = NonNullable<Parameters<typeof consentOfPage>[0]>;

/** A page's platform of TCF; `removed` has the listeners that it was asked to forget. */
function tcf(data: object | null, isKnown = true) {
  const removed: unknown[] = [];
  const __tcfapi: Page["__tcfapi"] = (command, _version, callback, parameter) => {
    if (command === "addEventListener") callback(data, isKnown);
    else removed.push(parameter);
  };
  return { __tcfapi, removed };
}
const gpp = (data: object): Page => ({ __gpp: (_command, callback) => callback(data, true) });

test("a page without a platform says nothing, so that the code's consent holds", async () => {
  expect(await consentOfPage({})).toBeUndefined();
});

test.each([
  ["loaded", { eventStatus: "tcloaded", tcString: "CP.a-b_c", gdprApplies: true }, { gdpr: true, tcf: "CP.a-b_c" }],
  ["decided", { eventStatus: "useractioncomplete", tcString: "CP", gdprApplies: true }, { gdpr: true, tcf: "CP" }],
  ["still asked", { eventStatus: "cmpuishown", tcString: "CP", gdprApplies: true }, { gdpr: true }],
  ["outside of the law", { eventStatus: "tcloaded", gdprApplies: false }, { gdpr: false }],
  ["without an answer on the law", { eventStatus: "tcloaded", tcString: "CP" }, { gdpr: true, tcf: "CP" }],
  ["with what is no string", { eventStatus: "tcloaded", tcString: "a b", gdprApplies: true }, { gdpr: true }],
  ["with a string that is too long", { eventStatus: "tcloaded", tcString: "C".repeat(4097) }, { gdpr: true }],
])("a user who is %s", async (_name, data, consent) => {
  const page = tcf({ ...data, listenerId: 7 });
  expect(await consentOfPage(page)).toEqual(consent);
  expect(page.removed, "no listener stays").toEqual([7]);
});

test("a platform that fails, throws or does not answer is one of a law that applies, and keeps no ad waiting", async () => {
  const silent: Page = { __tcfapi: () => {} };
  const throwing: Page = {
    __tcfapi: () => {
      throw new Error("out of order");
    },
  };
  const startedAt = performance.now();
  for (const page of [silent, throwing, tcf(null), tcf({ tcString: "CP", eventStatus: "tcloaded" }, false)])
    expect(await consentOfPage(page)).toEqual({ gdpr: true });
  expect(performance.now() - startedAt).toBeLessThan(2000);
});

test("of the Global Privacy Platform, the string that is ready is read, with the sections that apply", async () => {
  const ready = { signalStatus: "ready", gppString: "DBABLA~BVQqAAAAAgA", applicableSections: [7] };
  expect(await consentOfPage(gpp(ready))).toEqual({ gpp: "DBABLA~BVQqAAAAAgA", gpp_sid: [7] });
  expect(await consentOfPage(gpp({ ...ready, applicableSections: "7" }))).toEqual({ gpp: "DBABLA~BVQqAAAAAgA" });
  expect(await consentOfPage(gpp({ ...ready, signalStatus: "not ready" }))).toEqual({});
});

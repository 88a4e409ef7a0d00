import { isIPv4, isIPv6 } from "node:net";
import { usualBuyer } from "@intermission/operator-api/buyers";
import { regulatedKinds } from "@intermission/operator-api/regulated-categories";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bidRequestOf } from "./bid-request.ts";

type Rule = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Rule>>;

const whole =
  (min: number, max = Number.MAX_SAFE_INTEGER): Rule =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
const flag = whole(0, 1);
const text: Rule = (value) => typeof value === "string" && value !== "";
const matches =
  (form: RegExp): Rule =>
  (value) =>
    typeof value === "string" && form.test(value);
const listOf =
  (rule: Rule): Rule =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(rule);
const host = matches(/^[a-z0-9.-]+$/);

/** An object with all required fields, and no fields but these. */
function object(fields: Fields, required: readonly string[] = []): Rule {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const entries = Object.entries(value);
    const faults = entries.filter(([name, of]) => !fields[name]?.(of)).map(([name]) => name);
    const missing = required.filter((name) => !entries.some(([known]) => known === name));
    if (faults.length + missing.length > 0)
      throw new Error(`wrong: ${faults}; missing: ${missing}: ${JSON.stringify(value)}`);
    return true;
  };
}

/** OpenRTB 2.6, section 3.2, and the lists of AdCOM: the fields that a request for a rewarded video may have. */
const video = object(
  {
    mimes: listOf(matches(/^video\/[a-z0-9.+-]+$/)),
    minduration: whole(0),
    maxduration: whole(1),
    protocols: listOf(whole(1, 14)),
    plcmt: whole(1, 4),
    linearity: whole(1, 2),
    startdelay: whole(-2),
    skip: flag,
    skipmin: whole(0),
    skipafter: whole(0),
    delivery: listOf(whole(1, 3)),
    companiontype: listOf(whole(1, 3)),
    battr: listOf(whole(1, 17)),
  },
  ["mimes"],
);
const storedRequest = object({ prebid: object({ storedrequest: object({ id: text }, ["id"]) }) });
const imp = object(
  {
    id: text,
    video,
    instl: flag,
    rwdd: flag,
    secure: flag,
    exp: whole(1),
    tagid: text,
    bidfloor: (value) => typeof value === "number" && value >= 0 && Number.isFinite(value),
    bidfloorcur: matches(/^[A-Z]{3}$/),
    ext: storedRequest,
  },
  ["id", "video"],
);
const publisher = object({ id: text, name: text, domain: host });
const site = object({ id: text, domain: host, page: (value) => URL.canParse(String(value)), publisher });
const geo = object({ country: matches(/^[A-Z]{3}$/) });
const device: Rule = (value) =>
  object({
    ua: text,
    language: matches(/^[a-z]{2}$/i),
    langb: matches(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/i),
    geo,
    ip: (address) => isIPv4(String(address)),
    ipv6: (address) => isIPv6(String(address)),
  })(value) && !("language" in Object(value) && "langb" in Object(value));
const node = object({ asi: host, sid: text, hp: flag }, ["asi", "sid", "hp"]);
const schain = object({ complete: flag, ver: matches(/^1\.0$/), nodes: listOf(node) }, ["complete", "ver", "nodes"]);
const request = object(
  {
    id: text,
    imp: listOf(imp),
    site,
    device,
    user: object({ id: text, consent: text }),
    regs: object({ gdpr: flag, gpp: text, gpp_sid: listOf(whole(1)) }),
    test: flag,
    at: whole(1, 2),
    tmax: whole(1),
    cur: listOf(matches(/^[A-Z]{3}$/)),
    bcat: listOf(text),
    cattax: whole(1, 9),
    badv: listOf(host),
    source: object({ tid: text, schain }),
  },
  ["id", "imp"],
);

const optional = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });
const opening = fc.record({
  format: fc.constantFrom("rewarded" as const, "interstitial" as const),
  requestId: fc.uuid(),
  botId: fc.bigInt({ min: 1n, max: 10n ** 15n }).map(String),
  botName: fc.string({ minLength: 1 }),
  userId: fc.bigInt({ min: 1n, max: 10n ** 15n }).map(String),
  userAgent: fc.string(),
  language: optional(fc.constantFrom("en", "pt-br", "fil", "zh-hans", "EN")),
  country: optional(fc.constantFrom("DE", "AT", "XX", null)),
  isPremium: fc.boolean(),
  consent: optional(
    fc.record(
      { gdpr: fc.boolean(), tcf: fc.constant("CP"), gpp: fc.constant("DB"), gpp_sid: fc.constant<number[]>([2]) },
      { requiredKeys: [] },
    ),
  ),
  address: optional(fc.oneof(fc.ipV4(), fc.ipV6())),
  isTest: fc.boolean(),
});
const buyer = fc.record({
  sends: fc.subarray(["user-id", "address"] as const).map((sends) => [...sends]),
  floorMicros: fc.nat(10 ** 9),
  blockedCategories: fc.subarray(["IAB25", "IAB1"]),
  categoryTaxonomy: fc.integer({ min: 1, max: 9 }),
  blockedDomains: fc.subarray(["casino.example", "a.b.example"]),
  allowedRegulated: fc.subarray([...regulatedKinds]),
  storedRequest: fc.constantFrom(null, "rewarded"),
  alwaysTests: fc.boolean(),
  skipAfterSeconds: fc.integer({ min: 0, max: 15 }),
});

test("each request has the standard's fields alone, with its types, required ones and enumerations, and repeats no category", () => {
  const seller = { publicUrl: "https://ads.studio.example", currency: "USD" };
  fc.assert(
    fc.property(opening, buyer, fc.integer({ min: 20, max: 800 }), (of, settings, tmaxMs) => {
      const requested = { ...usualBuyer, ...settings, userKey: Buffer.alloc(32) };
      const sent: unknown = JSON.parse(JSON.stringify(bidRequestOf(of, requested, { seller, tmaxMs })));
      expect(request(sent)).toBe(true);
      const { bcat = [], cattax } = sent as { bcat?: string[]; cattax: number };
      expect(new Set(bcat).size).toBe(bcat.length);
      expect(cattax).toBe(settings.categoryTaxonomy);
      const { imp } = sent as { imp: { rwdd: number; tagid: string; video: Record<string, number> }[] };
      const { rwdd, tagid, video } = imp[0] ?? {};
      const { skip, skipmin, skipafter } = video ?? {};
      const isRewarded = of.format === "rewarded";
      const after = isRewarded ? undefined : settings.skipAfterSeconds;
      expect([rwdd, tagid]).toEqual([isRewarded ? 1 : 0, `${of.botId}/${of.format}`]);
      expect([skip, skipmin, skipafter]).toEqual([isRewarded ? 0 : 1, after, after]);
    }),
    { numRuns: 1000 },
  );
});

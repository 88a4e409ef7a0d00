import { expect, test } from "vitest";
import { z } from "zod";
import { faultOfIssue } from "./fault-of-issue.ts";
import type { FieldFault } from "./field-faults.ts";
import { forms } from "./field-forms.ts";
import { operatorRoutes } from "./operator-routes.ts";
import type { OperatorRoute } from "./route.ts";

function faultsOf(schema: z.ZodType, value: unknown): Record<string, FieldFault | undefined> {
  const issues = schema.safeParse(value, { reportInput: true }).error?.issues ?? [];
  return Object.fromEntries(issues.map((issue) => [issue.path.join("."), faultOfIssue(issue)]));
}

test("faults of a campaign have codes and the values that their sentences need", () => {
  const { body } = operatorRoutes.addCampaign;
  const campaign = { name: "", advertiser: "x".repeat(129), formats: ["rewarded", "rewarded"], landingUrl: "example" };
  expect(
    faultsOf(body, { ...campaign, viewPriceMicros: 0.5, targeting: { countries: ["de"] }, startsAt: "soon", other: 1 }),
  ).toEqual({
    name: { code: "EMPTY", values: {} },
    advertiser: { code: "CHARACTERS_AT_MOST", values: { max: "128" } },
    formats: { code: "TWICE", values: {} },
    landingUrl: { code: "NOT_AN_ADDRESS", values: {} },
    viewPriceMicros: { code: "MICROS", values: { min: "0", max: "1000000000" } },
    "targeting.countries.0": { code: "COUNTRY_CODE", values: {} },
    startsAt: { code: "MOMENT", values: {} },
    "": { code: "UNKNOWN_FIELDS", values: { names: "other" } },
  });
  expect(faultsOf(body, {})).toMatchObject({ name: { code: "MISSING" }, formats: { code: "MISSING" } });
});

test("faults of people, bots and money have codes, too", () => {
  expect(faultsOf(operatorRoutes.invitePerson.body, { email: "ann", role: "publisher" })).toEqual({
    email: { code: "EMAIL", values: {} },
    botIds: { code: "ROLE_NEEDS", values: { role: "publisher" } },
  });
  expect(faultsOf(operatorRoutes.invitePerson.body, { email: "ann@example.com", role: "publisher" })).toEqual({
    botIds: { code: "ROLE_NEEDS", values: { role: "publisher" } },
  });
  const unit = { en: { other: "coins" }, xx: { other: "coins" } };
  expect(faultsOf(operatorRoutes.updateBot.body, { rewardUnit: unit, webhookUrl: "https://a:b@example.com" })).toEqual({
    rewardUnit: { code: "UNKNOWN_LANGUAGE", values: { language: "xx" } },
    webhookUrl: { code: "ADDRESS_USER_INFO", values: {} },
  });
  expect(faultsOf(operatorRoutes.setTerms.body, { billing: "prepaid", creditLimitMicros: 5 })).toEqual({
    creditLimitMicros: { code: "NOT_FOR_PREPAID", values: {} },
  });
});

/** The rules of a schema that only their own words explain: those of our own making, and forms of text without a name. */
function rulesWithoutCode(schema: z.core.$ZodType, path: string, found: string[], seen: Set<unknown>): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const { def } = schema._zod;
  for (const check of def.checks ?? []) {
    const rule = check._zod.def as { check: string; format?: string; pattern?: RegExp; params?: { code?: string } };
    const isNamed = Object.values(forms).some((form) => String(form) === String(rule.pattern));
    if (rule.check === "custom" && rule.params?.code === undefined && !hasOwnCheck(check))
      found.push(`${path}: custom`);
    if (rule.format === "regex" && !isNamed && !isOfId(path)) found.push(`${path}: ${rule.pattern}`);
  }
  for (const [name, part] of Object.entries(def)) {
    for (const [key, child] of childrenOf(part)) {
      rulesWithoutCode(child, name === "shape" ? `${path}.${key}` : path, found, seen);
    }
  }
}

/** `superRefine` and `check` add issues themselves: the tests above have theirs. */
function hasOwnCheck(check: z.core.$ZodCheck): boolean {
  return (check._zod.def as { fn?: unknown }).fn === undefined;
}

/** Ids come from lists and keys from programs, not from a keyboard: `ID` says so of each. */
function isOfId(path: string): boolean {
  return /(Id|idempotencyKey|\.after|\.before|\.upTo|\.number|\.creativeIds|\.bots|\.id|\.rawId|clientDataJSON|attestationObject|authenticatorData|signature|userHandle)$/.test(
    path,
  );
}

function childrenOf(part: unknown): [string, z.core.$ZodType][] {
  if (typeof part !== "object" || part === null) return [];
  if ("_zod" in part && "parse" in part) return [["", part as z.ZodType]];
  return Object.entries(part).filter(([, one]) => one instanceof z.ZodType) as [string, z.ZodType][];
}

test("each rule of a field that people write has a code", () => {
  const found: string[] = [];
  for (const [name, route] of Object.entries<OperatorRoute>(operatorRoutes)) {
    for (const part of [route.params, route.query, route.body]) {
      if (part instanceof z.ZodType) rulesWithoutCode(part, name, found, new Set());
    }
  }
  expect(found).toEqual([]);
  const planted = z.object({ text: z.string().regex(/^x$/, "must be x"), rule: z.string().refine(() => false, "no") });
  rulesWithoutCode(planted, "planted", found, new Set());
  expect(found).toEqual(["planted.text: /^x$/", "planted.rule: custom"]);
});

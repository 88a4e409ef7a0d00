import { expect, test } from "vitest";
import { countryCode, currencyCode, languageCode } from "./standard-codes.ts";

const faultOf = (schema: typeof currencyCode, code: string) =>
  schema.safeParse(code).error?.issues.map(({ message }) => message);

test.each(["USD", "EUR", "JPY", "RUB", "UZS"])("a currency is accepted: %s", (code) => {
  expect(currencyCode.parse(code)).toBe(code);
});

test.each(["UDS", "EURO", "usd", "RUR1", "", "BTC", "US"])("what is no currency is refused: %j", (code) => {
  expect(faultOf(currencyCode, code)).toEqual([expect.stringContaining("must be an ISO 4217 currency code")]);
});

test("a country that the standard calls otherwise, or not at all, is refused with the code that is meant", () => {
  for (const code of ["DE", "GB", "XK", "UA"]) expect(countryCode.parse(code)).toBe(code);
  expect(faultOf(countryCode, "UK")).toEqual([expect.stringMatching(/ISO 3166 .*: write GB$/)]);
  expect(faultOf(countryCode, "EN")).toEqual([expect.stringMatching(/: EN is none$/)]);
  for (const code of ["ZZ", "XX", "EU", "UN", "T1", "de", "DEU"]) expect(faultOf(countryCode, code)).toHaveLength(1);
});

test("a language that the standard calls otherwise, or not at all, is refused with the code that is meant", () => {
  for (const code of ["en", "uk", "uz", "ckb"]) expect(languageCode.parse(code)).toBe(code);
  expect(faultOf(languageCode, "ua")).toEqual([expect.stringMatching(/ISO 639 .*: ua is none$/)]);
  expect(faultOf(languageCode, "iw")).toEqual([expect.stringMatching(/: write he$/)]);
  expect(faultOf(languageCode, "eng")).toEqual([expect.stringMatching(/: write en$/)]);
  expect(faultOf(languageCode, "sh")).toEqual([expect.stringMatching(/: write sr$/)]);
  for (const code of ["jp", "cn", "EN", "en-GB", "e"]) expect(faultOf(languageCode, code)).toHaveLength(1);
});

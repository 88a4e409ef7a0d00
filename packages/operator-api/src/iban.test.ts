import { expect, test } from "vitest";
import { electronicIban, isIban, isIbanOnly, printedIban } from "./iban.ts";

// The examples of SWIFT's registry.
test.each([
  "DE89370400440532013000",
  "GB29NWBK60161331926819",
  "NL91ABNA0417164300",
  "MT84MALT011000012345MTLCAST001S",
])("%s is an account number, and none with another digit or two exchanged", (iban) => {
  expect([isIban(iban), isIbanOnly(iban)]).toEqual([true, !iban.startsWith("GB")]);
  const last = iban.length - 2;
  const other = iban[last] === "1" ? "2" : "1";
  expect(isIban(`${iban.slice(0, last)}${other}${iban.slice(last + 1)}`)).toBe(false);
  expect(isIban(`${iban.slice(0, 2)}${iban[3]}${iban[2]}${iban.slice(4)}`)).toBe(iban[2] === iban[3]);
  expect(electronicIban(printedIban(iban).toLowerCase())).toBe(iban);
});

test("a country's length is needed, and letters are those of print", () => {
  // Right check digits with a digit less: those of another length.
  expect(isIban("DE8937040044053201300")).toBe(false);
  expect(isIban("de89370400440532013000")).toBe(false);
  expect(isIban("")).toBe(false);
  expect([isIban("TR330006100519786457841326"), isIbanOnly("TR330006100519786457841326")]).toEqual([true, false]);
});

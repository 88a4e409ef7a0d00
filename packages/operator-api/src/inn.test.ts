import { expect, test } from "vitest";
import { isInn } from "./inn.ts";

test("an INN has right check digits, also where another digit differs or two are exchanged", () => {
  for (const inn of ["7707083893", "7736207543", "500100732259"]) {
    expect(isInn(inn), inn).toBe(true);
    for (let at = 0; at < inn.length; at++) {
      const other = String((Number(inn[at]) + 1) % 10);
      expect(isInn(inn.slice(0, at) + other + inn.slice(at + 1)), `${inn}, digit ${at + 1}`).toBe(false);
    }
  }
  expect(isInn("7077083893")).toBe(false);
  for (const text of ["", "770708389", "77070838931", "7707083893 ", "770708389a", "０123456789"])
    expect(isInn(text), text).toBe(false);
});

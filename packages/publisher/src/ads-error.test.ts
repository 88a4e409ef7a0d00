import { expect, test, vi } from "vitest";
import { AdsError } from "./ads-error.ts";
import { CompanionError } from "./create-companion.ts";

test("an error of another copy of the package, as of require() beside import, is an instance of the class of its name", async () => {
  vi.resetModules();
  const other = await import("./ads-error.ts");
  const otherCompanion = await import("./create-companion.ts");
  expect(other.AdsError).not.toBe(AdsError);
  const facts = { code: "UNREACHABLE" };
  const errors = [new AdsError("no answer", facts), new other.AdsError("no answer", facts)];
  for (const error of errors) {
    expect([error instanceof AdsError, error instanceof other.AdsError, error instanceof Error]).toEqual([
      true,
      true,
      true,
    ]);
    expect([error instanceof CompanionError, error instanceof otherCompanion.CompanionError]).toEqual([false, false]);
  }
  expect(new otherCompanion.CompanionError("no", facts)).toBeInstanceOf(CompanionError);
  class OwnError extends AdsError {}
  expect(new OwnError("mine", facts)).toBeInstanceOf(other.AdsError);
  for (const error of errors) expect(error).not.toBeInstanceOf(OwnError);
  for (const value of [undefined, null, "AdsError", {}, new Error("other"), { name: "AdsError" }])
    expect((value as unknown) instanceof AdsError).toBe(false);
});

import { afterEach, expect, test, vi } from "vitest";
import { fromLocalInput, readLocalTime, toLocalInput } from "../src/ui/local-time.ts";

afterEach(() => vi.unstubAllEnvs());

const outcomeIn = (zone: string, text: string) => {
  vi.stubEnv("TZ", zone);
  return readLocalTime(text);
};

test("a time that clocks skip is refused, and the one before and after it is not", () => {
  expect(outcomeIn("Europe/Berlin", "2026-03-29T02:30")).toEqual({ outcome: "no-such-time" });
  expect(outcomeIn("Europe/Berlin", "2026-03-29T01:59")).toMatchObject({ outcome: "moment", isTwice: false });
  expect(outcomeIn("Europe/Berlin", "2026-03-29T03:00")).toMatchObject({ outcome: "moment", isTwice: false });
  expect(outcomeIn("Australia/Lord_Howe", "2026-10-04T02:15")).toEqual({ outcome: "no-such-time" });
  expect(outcomeIn("America/Sao_Paulo", "2018-11-04T00:30")).toEqual({ outcome: "no-such-time" });
});

test("a time that comes twice is the first one, and said to come twice", () => {
  const first = { outcome: "moment", at: new Date("2026-10-25T00:30:00Z"), isTwice: true };
  expect(outcomeIn("Europe/Berlin", "2026-10-25T02:30")).toEqual(first);
  expect(outcomeIn("Europe/Berlin", "2026-10-25T03:00")).toMatchObject({ isTwice: false });
  expect(outcomeIn("Australia/Lord_Howe", "2026-04-05T01:45")).toMatchObject({ isTwice: true });
  expect(outcomeIn("Asia/Tehran", "2026-10-25T02:30")).toMatchObject({ isTwice: false });
});

test("what a field of a browser may hold is read or refused, and never fails", () => {
  expect(outcomeIn("Asia/Tehran", "2026-03-29T02:30:15")).toMatchObject({ at: new Date("2026-03-28T23:00:15Z") });
  for (const text of ["275760-09-14T00:00", "2026-02-30T10:00", "soon"])
    expect(outcomeIn("UTC", text), text).toEqual({ outcome: "no-such-time" });
  expect(readLocalTime("")).toEqual({ outcome: "none" });
  expect(fromLocalInput("")).toBe(null);
  expect(toLocalInput(null)).toBe("");
});

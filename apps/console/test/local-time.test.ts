import { afterEach, expect, test, vi } from "vitest";
import { fromLocalInput, readLocalTime, shownLocalTime, toLocalInput, typedLocalTime } from "../src/ui/local-time.ts";

afterEach(() => vi.unstubAllEnvs());

const readIn = (zone: string, text: string) => {
  vi.stubEnv("TZ", zone);
  return readLocalTime(text);
};

test("a time that clocks skip is refused, and the one before and after it is not", () => {
  expect(readIn("Europe/Berlin", "2026-03-29T02:30")).toBe(undefined);
  expect(readIn("Europe/Berlin", "2026-03-29T01:59")).toMatchObject({ isTwice: false });
  expect(readIn("Europe/Berlin", "2026-03-29T03:00")).toMatchObject({ isTwice: false });
  expect(readIn("Australia/Lord_Howe", "2026-10-04T02:15")).toBe(undefined);
  expect(readIn("America/Sao_Paulo", "2018-11-04T00:30")).toBe(undefined);
});

test("a time that comes twice is the first one, and said to come twice", () => {
  const first = { at: new Date("2026-10-25T00:30:00Z"), isTwice: true };
  expect(readIn("Europe/Berlin", "2026-10-25T02:30")).toEqual(first);
  expect(readIn("Europe/Berlin", "2026-10-25T03:00")).toMatchObject({ isTwice: false });
  expect(readIn("Australia/Lord_Howe", "2026-04-05T01:45")).toMatchObject({ isTwice: true });
  expect(readIn("Asia/Tehran", "2026-10-25T02:30")).toMatchObject({ isTwice: false });
});

test("what a field of a browser may hold is read or refused, and never fails", () => {
  expect(readIn("Asia/Tehran", "2026-03-29T02:30:15")).toMatchObject({ at: new Date("2026-03-28T23:00:15Z") });
  for (const text of ["275760-09-14T00:00", "2026-02-30T10:00", "soon"])
    expect(readIn("UTC", text), text).toBe(undefined);
  expect(readLocalTime("")).toEqual({ at: null, isTwice: false });
  expect(fromLocalInput("")).toBe(null);
  expect(toLocalInput(null)).toBe("");
});

test("a field in which a part of the time is missing is refused, and not read as none", () => {
  const unfinished = typedLocalTime({ value: "", validity: { badInput: true } });
  expect(readLocalTime(unfinished)).toBe(undefined);
  expect(shownLocalTime(unfinished)).toBe("");
  expect(typedLocalTime({ value: "", validity: { badInput: false } })).toBe("");
  expect(shownLocalTime("2026-03-29T02:30")).toBe("2026-03-29T02:30");
});

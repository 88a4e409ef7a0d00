import { expect, test } from "vitest";
import { problemTexts } from "../src/operator/problem-words.ts";

test("a known refusal is said in the reader's language with its values, and an unknown one is left to the server", () => {
  const message = "in the words of the server";
  const paid = { code: "PAID", values: { until: "2026-02" }, message };
  expect(problemTexts(paid)?.in("en")).toBe(
    "Everything until the end of 2026-02 is paid already; choose a later month.",
  );
  expect(problemTexts(paid)?.in("ru")).toBe("Всё на конец 2026-02 уже выплачено; выберите месяц позже.");
  expect(problemTexts({ code: "PAID", values: {}, message })).toBeUndefined();
  expect(problemTexts({ code: "FROM_A_LATER_VERSION", values: {}, message })).toBeUndefined();
  expect(problemTexts({ code: "toString", values: {}, message })).toBeUndefined();
});

test("a refusal of any route keeps the server's sentence in English, and has one in Russian", () => {
  const texts = problemTexts({ code: "READ_ONLY", values: {}, message: "you see the console as a@example.com" });
  expect(texts?.in("en")).toBe("you see the console as a@example.com");
  expect(texts?.in("ru")).toMatch(/завершите просмотр/);
});

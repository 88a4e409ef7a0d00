import { describe, expect, test } from "vitest";
import { formatMessage, type MessageValue, numberRules, readMessage } from "./icu-message.ts";

const said = (text: string, values: Record<string, MessageValue> = {}, language = "en") =>
  formatMessage(readMessage(text), values, numberRules(language));

test("a message has its values, numbers as the language writes them", () => {
  expect(said("{name} has {count, number} of {all}", { name: "Ann", count: 1234567, all: 9 })).toBe(
    "Ann has 1,234,567 of 9",
  );
  expect(said("{count, number}", { count: 1234567 }, "ru")).toBe("1\u00a0234\u00a0567");
});

test("a plural has the form of its language, or the one of an exact number", () => {
  const russian = "{count, plural, =0 {ничего} one {# бот} few {# бота} many {# ботов} other {# бота}}";
  expect([0, 1, 3, 5, 21].map((count) => said(russian, { count }, "ru"))).toEqual([
    "ничего",
    "1 бот",
    "3 бота",
    "5 ботов",
    "21 бот",
  ]);
});

test("cases may hold further placeholders", () => {
  const text =
    "{isMore, select, true {More than {count, plural, one {# view} other {# views}}} other {{count, number} views}}";
  expect(said(text, { isMore: true, count: 1 })).toBe("More than 1 view");
  expect(said(text, { isMore: false, count: 1000 })).toBe("1,000 views");
});

test("an apostrophe quotes braces, and is one elsewhere", () => {
  expect(said("don't write '{name}' but {name}", { name: "Ann" })).toBe("don't write {name} but Ann");
  expect(said("# is a sign of its own")).toBe("# is a sign of its own");
});

test("a missing value is no text", () => {
  expect(() => said("{name}")).toThrow("no value name");
});

describe("a message that cannot be read says what is wrong:", () => {
  test.each([
    ["{name", "number, plural or select is missing"],
    ["a } b", "a } without its {"],
    ["{count, plural, one {#}}", 'the case "other" of count is missing'],
    ["{when, date}", "number, plural or select is missing"],
    ["{}", "the name of a value is missing"],
  ])("%s", (text, fault) => {
    expect(() => readMessage(text)).toThrow(fault);
  });
});

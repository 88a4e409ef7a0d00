import { expect, test } from "vitest";
import { jsonInteger, parseExactly, stringifyExactly } from "./exact-json.ts";

test("integers beyond 2^53 keep all their digits when they are written, read and written again", () => {
  const text = JSON.stringify({
    spend: jsonInteger(12_345_678_901_234_567n),
    back: jsonInteger(-9_007_199_254_740_993n),
  });
  expect(text).toBe('{"spend":12345678901234567,"back":-9007199254740993}');
  expect(parseExactly(text)).toEqual({ spend: 12_345_678_901_234_567n, back: -9_007_199_254_740_993n });
  expect(stringifyExactly(parseExactly(text)).replaceAll(/\s/g, "")).toBe(text);
});

test("all other values are what JSON.parse makes of them", () => {
  const text = '{"a":[1,-0.5,1e300,9007199254740991,"12345678901234567",true,null,{}]}';
  expect(parseExactly(text)).toEqual(JSON.parse(text));
  expect(jsonInteger(9_007_199_254_740_991n)).toBe(9_007_199_254_740_991);
});

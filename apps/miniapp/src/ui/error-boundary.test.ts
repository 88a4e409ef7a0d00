import { expect, test } from "vitest";
import { faultPlace } from "./error-boundary.tsx";

function faultWith(stack: string): Error {
  return Object.assign(new TypeError("secret of user 42"), { stack });
}

test.each([
  [
    "TypeError: secret\n    at Gx (https://a.example/app/assets/index-Dw1at4Mz.js:12:4021)\n    at b",
    "index-Dw1at4Mz-12-4021",
  ],
  ["Gx@https://a.example/app/assets/index-Dw1at4Mz.js:12:4021\nb@", "index-Dw1at4Mz-12-4021"],
  ["TypeError: secret\n    at <anonymous>", "TypeError"],
  ["", "TypeError"],
])("the stack %j gives %s", (stack, expected) => {
  expect(faultPlace(faultWith(stack))).toBe(expected);
});

test("a thrown value that is not an Error has no place", () => {
  expect(faultPlace("user 42")).toBe("unknown");
});

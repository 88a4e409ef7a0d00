import { expect, test } from "vitest";
import { nearbyPath, shapeOf } from "./nearby-path.ts";

const patterns = ["/", "/:code", "/client/v1/codes", "/client/v1/codes/:code", "/app/*", "/operator/v1/bots", "/a.b"];
const known = new Map<string, RegExp>();
for (const pattern of patterns) {
  const shape = shapeOf(pattern);
  if (shape !== undefined) known.set(pattern, shape);
}

test.each([
  ["/client/v1/codes/", "/client/v1/codes"],
  ["/client/v1/codes?x=/", "/client/v1/codes"],
  ["//client//v1/codes//", "/client/v1/codes"],
  ["/CLIENT/v1/Codes", "/client/v1/codes"],
  ["/client/v1/client/v1/codes", "/client/v1/codes"],
  ["/client/v1/codes/4hYDTLULU4StJidhUc/", "/client/v1/codes/{code}"],
])("%s is probably %s", (requested, expected) => {
  expect(nearbyPath(known, requested)).toBe(expected);
});

test.each([
  ["a path of the operator", "/operator/v1/bots/"],
  ["a name at the root", "/codes/"],
  ["another version", "/client/v2/codes"],
  ["a letter that is special in a pattern", "/aXb/"],
  ["nothing", ""],
  ["a very long one", `${"/a".repeat(8000)}/client/v1/codes`],
])("%s is like none", (_what, requested) => {
  expect(nearbyPath(known, requested)).toBeUndefined();
});

import { expect, test } from "vitest";
import { layoutSize } from "./video-element.ts";

const declared = { width: 640, height: 360 };

test.each([
  ["the declared size until the picture's is known", undefined, declared],
  ["the declared size if the picture has its shape", { width: 1920, height: 1080 }, declared],
  ["the declared size if a lighter file is rounded", { width: 426, height: 240 }, declared],
  ["the picture's, if it is upright", { width: 360, height: 640 }, { width: 360, height: 640 }],
  ["the picture's, if it is a square", { width: 480, height: 480 }, { width: 480, height: 480 }],
  ["the picture's, if it is wider", { width: 640, height: 300 }, { width: 640, height: 300 }],
])("a video is laid out by %s", (_name, picture, expected) => {
  expect(layoutSize(declared, picture)).toEqual(expected);
});

import { openSessionRequest } from "@intermission/ad-core/player-api";
import { expect, test } from "vitest";
import { isNote } from "../src/in-app/is-note.ts";

test.each([
  ["level 7 · 🎁", true],
  ["", true],
  ["x".repeat(128), true],
  ["🎁".repeat(128), true],
  ["x".repeat(129), false],
  ["🎁".repeat(129), false],
  ["two\nlines", false],
  ["\ud800", false],
  [7, false],
  [{}, false],
  [null, false],
])("the script takes the note %j as the service does", (note, isTaken) => {
  expect(isNote(note)).toBe(isTaken);
  expect(openSessionRequest.shape.client_note.safeParse(note).success).toBe(isTaken);
});

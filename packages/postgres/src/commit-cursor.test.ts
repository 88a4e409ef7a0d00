import { expect, test } from "vitest";
import { decodeCursor, encodeCursor, feedStart } from "./commit-cursor.ts";

test("an encoded cursor is decoded unchanged, and so is the start of the feed", () => {
  const cursor = { epoch: "Ab_-12", xid: "18446744073709551615", id: "evt_01990000-0000-7000-8000-000000000001" };
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  expect(decodeCursor(encodeCursor(feedStart))).toEqual(feedStart);
});

test.each([
  "",
  "x",
  "!!!",
  encodeCursor({ epoch: "e", xid: "18446744073709551616", id: "a" }),
  encodeCursor({ epoch: "e", xid: "01", id: "a" }),
  encodeCursor({ epoch: "e", xid: "1", id: "a\n" }),
  encodeCursor({ epoch: "", xid: "1", id: "a" }),
  encodeCursor({ epoch: "e/", xid: "1", id: "a" }),
  Buffer.from("754.evt_1").toString("base64url"),
  "A".repeat(1000),
])("%j is not a cursor", (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { AnswerHeadCheck } from "./connection.ts";

/** Checks the text as one chunk and byte by byte. */
function accepts(text: string): boolean {
  const bytes = Buffer.from(text, "latin1");
  const [whole, cut] = [new AnswerHeadCheck(), new AnswerHeadCheck()];
  whole.begin();
  cut.begin();
  const passed = whole.pass(bytes);
  const parts = [...bytes].map((byte) => cut.pass(Buffer.of(byte)));
  const isRefused = parts.includes(undefined);
  expect(isRefused).toBe(passed === undefined);
  if (passed !== undefined) expect(Buffer.concat(parts.map((part) => part ?? Buffer.of())).equals(passed)).toBe(true);
  return !isRefused;
}

test.each([
  "HTTP/1.1 200 OK\r\n\r\nHTTP/2.0 is what the body speaks of",
  "HTTP/1.0 404 Not Found\r\n",
  "\r\nHTTP/1.1 200 OK\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\nanything",
  "HTTP/1.",
  "",
])("%j is HTTP/1.x", (text) => expect(accepts(text)).toBe(true));

test.each([
  "HTTP/2.0 200 OK\r\n\r\n",
  "HTTP/0.9 200 OK\r\n\r\n",
  "ICY 200 OK\r\n\r\n",
  "RTSP/1.0 200 OK\r\n\r\n",
  "http/1.1 200 OK\r\n\r\n",
  "220 mail.test ESMTP\r\n",
  "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2.0 200 OK\r\n\r\n",
  "HTTP/1.1 100 \r\r\n\r\n\r\nRTSP/1.0 200 OK",
])("%j is not HTTP/1.x", (text) => expect(accepts(text)).toBe(false));

test("interim answers are left out, and nothing else changes, however the bytes are split", () => {
  const passed = (text: string, size: number) => {
    const check = new AnswerHeadCheck();
    check.begin();
    const bytes = Buffer.from(text);
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      check.pass(bytes.subarray(at * size, (at + 1) * size)),
    );
    return Buffer.concat(parts.filter((part) => part !== undefined)).toString();
  };
  const interim = "HTTP/1.1 100 Go\r\nx: 100\r\n\r\nHTTP/1.0 103 100\n\nHTTP/1.1 100\r\n\r\n";
  const answer = "HTTP/1.1 200 100\r\nx: y\r\n\r\nHTTP/1.1 100 in the body\r\n\r\n";
  for (const size of [1, 2, 7, 1000]) {
    expect(passed(interim + answer, size)).toBe(answer);
    expect(passed(answer, size)).toBe(answer);
    expect(passed(`${interim}HTTP/1.1 101 Other\r\n\r\n`, size)).toBe("HTTP/1.1 101 Other\r\n\r\n");
  }
});

test("each of several answers on a connection is checked", () => {
  const check = new AnswerHeadCheck();
  expect(check.pass(Buffer.from("before any request"))).toBeDefined();
  check.begin();
  expect(check.hasBegun).toBe(false);
  expect(check.pass(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toBeDefined();
  expect(check.hasBegun).toBe(true);
  check.begin();
  expect(check.pass(Buffer.from("HTTP/2.0 200 OK\r\n\r\n"))).toBeUndefined();
});

test("the result does not depend on how the bytes are split", () => {
  const part = fc.constantFrom("HTTP/1.1 ", "HTTP/2.0 ", "103 ", "200 ", "\r\n", "\r\n\r\n", "\r", "x", "RTSP/1.0 ");
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }), (parts) => void accepts(parts.join(""))));
});

test("heads of 16 KiB pass, one byte more does not, and the body that follows does not count", () => {
  const answer = (bytes: number) => {
    const [before, after] = ["HTTP/1.1 200 ", "\r\n\r\n"];
    return before + "O".repeat(bytes - before.length - after.length) + after;
  };
  expect(accepts(answer(16_384) + "b".repeat(50_000))).toBe(true);
  expect(accepts(answer(16_385))).toBe(false);
  const interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
  expect(accepts(interim + answer(16_384 - interim.length))).toBe(true);
  expect(accepts(interim + answer(16_385 - interim.length))).toBe(false);
});

import { gzipSync } from "node:zlib";
import { answering, cutting, dripping, ending, flooding } from "./misbehaving-server.ts";
import { answered, type Fault, fault, sent } from "./run-fault.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const EMPTY = `${OK}content-length: 0\r\n\r\n`;
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const sized = (bytes: number) => `${OK}content-length: ${bytes}\r\n\r\n`;

export const headerFaults: Fault[] = [
  fault("trickled", dripping(`${OK}x-slow: `, "x", { everyMs: 50 }), sent("timeout-total"), { waits: "total" }),
  fault("100 kB in one header", answering(`${OK}x: ${"a".repeat(100_000)}\r\n\r\n`), sent("too-large")),
  fault("100 kB in many headers", answering(`${OK}${"x: 0123456789\r\n".repeat(7_000)}\r\n`), sent("too-large")),
  fault("endless", flooding(OK, `x: ${"a".repeat(1000)}\r\n`), sent("too-large"), { mostWritten: 20_000_000 }),
  fault("endless 102", dripping("", "HTTP/1.1 102 Processing\r\n\r\n", { everyMs: 200 }), sent("timeout-total"), {
    waits: "total",
  }),
  fault(
    "endless 103, as fast as possible",
    flooding("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000)),
    sent("too-large"),
    {
      detail: /the head of the answer exceeds/,
      mostWritten: 20_000_000,
    },
  ),
  fault("endless 100", dripping("", "HTTP/1.1 100 Continue\r\n\r\n", { everyMs: 200 }), sent("timeout-total"), {
    waits: "total",
  }),
  fault(
    "endless 100, as fast as possible",
    flooding("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)),
    sent("too-large"),
    { detail: /the head of the answer exceeds/, mostWritten: 20_000_000 },
  ),
  fault("100, then 200", answering("HTTP/1.1 100 Continue\r\n\r\n", EMPTY), answered(200, "")),
  fault("100 and 200 at once", answering(`HTTP/1.1 100 Continue\r\n\r\n${EMPTY}`), answered(200, "")),
  fault("100 twice, then 200", answering("HTTP/1.1 100 Continue\r\n\r\n".repeat(2), EMPTY), answered(200, "")),
  fault("100 of HTTP/1.0 without a reason, then 200", answering("HTTP/1.0 100\r\n\r\n", EMPTY), answered(200, "")),
  fault(
    "100 with headers, then 200",
    answering("HTTP/1.1 100 Continue\r\nconnection: close\r\ncontent-length: 0\r\nserver: x\r\n\r\n", EMPTY),
    answered(200, ""),
  ),
  fault(
    "102, 100 and 103, then 200 with a body that begins like a status line",
    answering(
      "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n",
      `${sized(12)}HTTP/1.1 100`,
    ),
    answered(200, "HTTP/1.1 100"),
  ),
  fault(
    "100, then 500",
    answering("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
    answered(500, ""),
  ),
  fault("100, then nothing", answering("HTTP/1.1 100 Continue\r\n\r\n"), sent("timeout-total"), { waits: "total" }),
  fault("100, then the end", ending("HTTP/1.1 100 Continue\r\n\r\n"), sent("reset")),
  fault("103, then 200", answering("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", EMPTY), answered(200, "")),
  fault(
    "101 to another protocol",
    answering("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
    sent("protocol"),
  ),
  fault("101 to nothing", answering("HTTP/1.1 101 Switching Protocols\r\n\r\n"), sent("protocol")),
  fault("banner of SMTP", answering("220 mail.test ESMTP\r\n"), sent("protocol")),
  // It meets the request on its way: whether that was sent before depends on the moment.
  fault("banner of SMTP, unsolicited", (socket) => socket.write("220 mail.test ESMTP\r\n"), {
    outcome: "failed",
    errorClass: "protocol",
  }),
  fault(
    "Content-Length with Transfer-Encoding",
    answering(`${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    sent("protocol"),
  ),
  fault(
    "two Content-Lengths",
    answering(`${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`),
    sent("protocol"),
  ),
  fault("negative Content-Length", answering(`${OK}content-length: -1\r\n\r\n`), sent("protocol")),
  fault("Content-Length out of range", answering(`${OK}content-length: ${"9".repeat(40)}\r\n\r\n`), sent("protocol")),
  fault("lines that end with LF only", answering(EMPTY.replaceAll("\r", "")), sent("protocol")),
  fault("NUL in a value", answering(`${OK}x: a\0b\r\n\r\n`), sent("protocol")),
  fault("a name with a space", answering(`${OK}x y: z\r\n\r\n`), sent("protocol")),
  fault("HTTP/0.9", answering("hello"), sent("protocol")),
  fault("HTTP/2's preface", answering(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])), sent("protocol")),
  fault("204 with bytes", answering("HTTP/1.1 204 No Content\r\n\r\nbytes"), answered(204, "")),
  fault(
    "204 with a Content-Length",
    answering("HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nbytes"),
    answered(204, ""),
  ),
];

const bomb = gzipSync(Buffer.alloc(10_000_000));

/** The headers decided the outcome; the body does not change it, and is read up to 16 KiB or the total timeout. */
export const bodyFaults: Fault[] = [
  fault("one byte at intervals", dripping(sized(1000), "x", { everyMs: 50 }), answered(200), { waits: "total" }),
  fault("a body that never begins", answering(sized(1000)), answered(200, ""), { waits: "total" }),
  fault("endless", flooding(CHUNKED, `4000\r\n${"é".repeat(8192)}\r\n`), answered(200, "é".repeat(2048)), {
    mostWritten: 20_000_000,
  }),
  fault(
    "an endless body of an error status",
    flooding("HTTP/1.1 500 No\r\n\r\n", "x".repeat(16_384)),
    answered(500, "x".repeat(4096)),
    {
      mostWritten: 20_000_000,
    },
  ),
  fault("10 MB", flooding(sized(10_000_000), "y".repeat(10_000), 10_000_000), answered(200, "y".repeat(4096)), {
    mostWritten: 9_000_000,
  }),
  fault("20 kB, then silence", answering(sized(100_000), "z".repeat(20_000)), answered(200, "z".repeat(4096))),
  fault("shorter than its Content-Length, then FIN", ending(`${sized(100)}half`), answered(200, "half")),
  fault("shorter than its Content-Length, then reset", cutting(`${sized(100)}`), answered(200)),
  fault("longer than its Content-Length", answering(`${sized(4)}halfbutmore`), answered(200, "half")),
  fault("a bad chunk size at the start", answering(`${CHUNKED}zz\r\n`), answered(200, "")),
  fault("a bad chunk size later", answering(`${CHUNKED}4\r\ngood\r\nzz\r\n`), answered(200, "good")),
  fault("a chunk size out of range", answering(`${CHUNKED}${"f".repeat(40)}\r\n`), answered(200, "")),
  fault("an endless chunk extension", flooding(`${CHUNKED}4;`, "x".repeat(10_000)), answered(200, "")),
  fault("endless trailers", flooding(`${CHUNKED}2\r\nok\r\n0\r\n`, "x: y\r\n".repeat(1000)), answered(200, "ok"), {
    mostWritten: 20_000_000,
  }),
  fault(
    "a gzip bomb",
    answering(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb),
    answered(200),
  ),
  fault(
    "invalid UTF-8",
    answering(sized(5), Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62])),
    answered(200, "a\ufffd\ufffd(b"),
  ),
  fault("NUL", answering(sized(4), "a\0\0b"), answered(200, "ab")),
  fault("until the connection ends", ending("HTTP/1.0 200 OK\r\n\r\nold"), answered(200, "old")),
];

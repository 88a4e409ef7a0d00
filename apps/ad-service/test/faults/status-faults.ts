import { answering } from "./misbehaving-server.ts";
import { answered, type Fault, fault, sent } from "./run-fault.ts";

const withStatus = (status: string, headers = "") =>
  answering(`HTTP/1.1 ${status} Text\r\n${headers}content-length: 0\r\n\r\n`);

const finals = [
  200, 201, 202, 204, 206, 226, 299, 400, 401, 403, 404, 405, 409, 410, 418, 422, 429, 451, 499, 500, 502, 503, 504,
  599,
];

const retryAfters = {
  zero: "0",
  "a negative number": "-1",
  seconds: "5",
  "many years": "99999999",
  "a date": "Fri, 31 Dec 2099 23:59:59 GMT",
  "a past date": "Fri, 31 Dec 1999 23:59:59 GMT",
  junk: "soon, perhaps",
  nothing: "",
};

export const statusFaults: Fault[] = [
  ...finals.map((status) => fault(`${status}`, withStatus(`${status}`), answered(status, ""))),
  ...[300, 304, 305, 399].map((status) =>
    fault(`${status} without a target`, withStatus(`${status}`), { ...sent("redirect"), status }),
  ),
  ...["099", "600", "700", "999", "20", "2000"].map((status) =>
    fault(`${status}`, withStatus(status), sent("protocol")),
  ),
  ...[
    "HTTP/2.0",
    "HTTP/9.9",
    "HTTP/0.9",
    "HTTP/1.2",
    "HTTP/2",
    "ICY",
    "ICE/1.0",
    "RTSP/1.0",
    "SIP/2.0",
    "http/1.1",
  ].map((protocol) =>
    fault(`${protocol} 200`, answering(`${protocol} 200 OK\r\ncontent-length: 0\r\n\r\n`), sent("protocol")),
  ),
  fault(
    "HTTP/2.0 after an interim answer",
    answering("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n"),
    sent("protocol"),
  ),
  fault("HTTP/1.0 200", answering("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"), answered(200, "")),
  ...[429, 503].flatMap((status) =>
    Object.entries(retryAfters).map(([what, retryAfter]) =>
      fault(`${status} with a Retry-After of ${what}`, withStatus(`${status}`, `retry-after: ${retryAfter}\r\n`), {
        ...answered(status),
        retryAfter,
      }),
    ),
  ),
  fault("two Retry-Afters", withStatus("503", "retry-after: 1\r\nretry-after: 2\r\n"), {
    ...answered(503),
    retryAfter: "1,2",
  }),
  fault("a Retry-After of 10 kB", withStatus("503", `retry-after: ${"9".repeat(10_000)}\r\n`), {
    ...answered(503),
    retryAfter: "9".repeat(100),
  }),
  fault("a Retry-After of 1 MB", withStatus("503", `retry-after: ${"9".repeat(1_000_000)}\r\n`), sent("too-large")),
];

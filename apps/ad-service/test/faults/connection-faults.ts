import {
  answering,
  byConnection,
  type Certificate,
  cutting,
  dripping,
  ending,
  inTurn,
  silence,
  startMisbehavingServer,
  startNothing,
} from "./misbehaving-server.ts";
import { answered, type Fault, fault, sent, unsent } from "./run-fault.ts";
import { expiredCertificate, strangerCertificate, strangerKey, testCertificate, testKey } from "./test-certificates.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/** The first connection answers one request and breaks on the next; each row expects the outcome. */
const keptConnectionFaults = Object.entries({ reset: cutting, closed: ending }).flatMap(([what, breaking]): Fault[] => [
  fault(
    `kept connection ${what} during the write: retried immediately`,
    inTurn(answering(OK), breaking()),
    answered(200),
    {
      after: "request",
      connections: 2,
    },
  ),
  {
    ...fault(`kept connection ${what} during the write, and so is the new one`, breaking(), sent("reset")),
    server: () => startMisbehavingServer(byConnection(inTurn(answering(OK), breaking()), breaking())),
    after: "request",
    connections: 2,
  },
  fault(`kept connection ${what} during the answer`, inTurn(answering(OK), breaking("HTTP/1.1 2")), sent("reset"), {
    after: "request",
  }),
  fault(
    `a request that is sent once uses no kept connection: ${what}`,
    inTurn(answering(OK), breaking()),
    answered(200),
    {
      after: "request",
      connection: "fresh",
      connections: 2,
    },
  ),
  fault(`new connection ${what} during the write of a request that is sent once`, breaking(), sent("reset"), {
    connection: "fresh",
  }),
]);

export const tcpFaults: Fault[] = [
  { what: "refused", server: startNothing, expected: unsent("refused"), connections: 0 },
  fault("accepted, then silence", silence, sent("timeout-total"), { waits: "total" }),
  fault("reset after the request", cutting(), sent("reset")),
  fault("FIN without an answer", ending(), sent("reset")),
  fault("reset during the headers", cutting("HTTP/1.1 200 OK\r\nx-"), sent("reset")),
  fault("FIN during the headers", ending("HTTP/1.1 200 OK\r\nx-"), sent("reset")),
  ...keptConnectionFaults,
  fault("kept connection silent during the write", inTurn(answering(OK)), sent("timeout-total"), {
    after: "request",
    waits: "total",
  }),
  fault("kept connection closed before the write: another is opened", ending(OK), answered(200), {
    after: "closed",
    connections: 2,
  }),
  fault(
    "a second answer is never used for the next request",
    answering(`${OK}${OK.replace("200", "500")}`),
    answered(200),
    {
      after: "request",
      connections: 2,
    },
  ),
];

const trusted = { key: testKey, cert: testCertificate };
const https = (port: number) => `https://hook.test:${port}/`;

const handshake = (
  what: string,
  certificate: Certificate,
  expected: Fault["expected"],
  extras: Partial<Fault>,
): Fault => ({
  what,
  server: () => startMisbehavingServer(ending(OK), { certificate }),
  expected,
  url: https,
  ...extras,
});

/** The header of a TLS record of 16 kB, which is then sent byte by byte. */
const record = Buffer.from([0x16, 0x03, 0x03, 0x40, 0x00]);

export const tlsFaults: Fault[] = [
  handshake("a good certificate", trusted, answered(200), {}),
  handshake("an expired certificate", { key: testKey, cert: expiredCertificate }, unsent("tls"), { detail: /expired/ }),
  handshake("a self-signed certificate", { key: strangerKey, cert: strangerCertificate }, unsent("tls"), {
    detail: /self-signed/,
  }),
  handshake("a certificate of another host", trusted, unsent("tls"), {
    url: (port) => `https://other.test:${port}/`,
    detail: /other\.test/,
  }),
  handshake("a certificate of a name, for an address", trusted, unsent("tls"), {
    url: (port) => `https://127.0.0.1:${port}/`,
    detail: /127\.0\.0\.1/,
  }),
  handshake("TLS on a port for plain HTTP", trusted, sent("reset"), { url: (port) => `http://hook.test:${port}/` }),
  fault("plain HTTP on the TLS port", answering(`${OK}\r\n`), unsent("tls"), {
    url: https,
    detail: /^wrong version number$/,
  }),
  fault("plain HTTP on the TLS port, unsolicited", (socket) => socket.write(OK), unsent("tls"), { url: https }),
  fault("stalled handshake", silence, unsent("timeout-connect"), { url: https, waits: "connect" }),
  fault("trickled handshake", dripping(record, "\0", { everyMs: 20 }), unsent("timeout-connect"), {
    url: https,
    waits: "connect",
  }),
  fault("handshake reset", cutting(), unsent("reset"), { url: https }),
  fault("FIN during the handshake", ending(), unsent("reset"), { url: https }),
  fault("FIN before the handshake", (socket) => socket.end(), unsent("reset"), { url: https }),
];

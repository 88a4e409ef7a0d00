import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type BidOutcome, bidOutcomes } from "@intermission/operator-api/bid-outcomes";
import { usualBuyer } from "@intermission/operator-api/buyers";
import { secretBox } from "@intermission/server/secret-box";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RequestedBuyer } from "../src/buyers/buyers.ts";
import { requestBid } from "../src/demand/request-bids.ts";
import { openGuardedRequests } from "../src/outbound/guarded-request.ts";

const vast = '<VAST version=\\"4.0\\"/>';
const bid = (change = "", price = "1.25") =>
  `{"id":"b","impid":"1","price":${price},"adm":"${vast}"${change === "" ? "" : `,${change}`}}`;
const seats = (...bids: string[]) => `[{"seat":"s","bid":[${bids.join(",")}]}]`;
const response = (seatbid: string, more = '"id":"r1","cur":"USD"') => `{${more},"seatbid":${seatbid}}`;
const ofBid = (change?: string, price?: string) => response(seats(bid(change, price)));

type Answer = string | Buffer | ((response: ServerResponse) => void);
const coded =
  (encoding: string, body: Buffer, headers: Record<string, string> = {}) =>
  (to: ServerResponse) =>
    void to.writeHead(200, { "content-type": "application/json", "content-encoding": encoding, ...headers }).end(body);
const status =
  (code: number, body = "", headers: Record<string, string> = {}) =>
  (to: ServerResponse) =>
    void to.writeHead(code, headers).end(body);
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const macro = (name: string) => `\${AUCTION_${name}}`;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

/** Answers of a buyer with their expected outcome. */
const answers: Readonly<Record<string, readonly [BidOutcome, Answer]>> = {
  // Forms of no bid.
  "204": ["no-bid", status(204)],
  blank: ["no-bid", ""],
  "white space": ["no-bid", " \r\n\t "],
  "byte order mark alone": ["no-bid", "\ufeff"],
  "empty object": ["no-bid", "{}"],
  "empty seats": ["no-bid", response("[]")],
  "no seats, null": ["no-bid", response("null")],
  "a seat without bids": ["no-bid", response('[{"seat":"s"}]')],
  "a seat with bids of null": ["no-bid", response('[{"seat":"s","bid":null}]')],
  "two empty seats": ["no-bid", response('[{"bid":[]},{"bid":[]}]')],
  nbr: ["no-bid", '{"id":"r1","nbr":2}'],
  "nbr as text": ["no-bid", '{"id":"r1","nbr":"2"}'],
  "nbr that is no number": ["no-bid", '{"id":"r1","nbr":{"a":1}}'],
  "nbr beyond all": ["no-bid", '{"id":"r1","nbr":1e400}'],
  "negative nbr": ["no-bid", '{"id":"r1","nbr":-1}'],
  "nbr of 500 and up": ["no-bid", '{"id":"r1","nbr":501,"seatbid":[]}'],
  // Bodies that are no bid response.
  null: ["malformed", "null"],
  "a number": ["malformed", "17"],
  "a text": ["malformed", '"no"'],
  true: ["malformed", "true"],
  "a list": ["malformed", "[]"],
  "a list of a response": ["malformed", `[${ofBid()}]`],
  "seats that are an object": ["malformed", response('{"bid":[]}')],
  "seats that are a text": ["malformed", response('"none"')],
  "a seat of null": ["malformed", response("[null]")],
  "a seat that is a list": ["malformed", response("[[]]")],
  "bids that are an object": ["malformed", response(`[{"bid":${bid()}}]`)],
  "a bid of null": ["malformed", response(seats("null"))],
  "a bid that is a text": ["malformed", response(seats('"1.25"'))],
  "cut off": ["malformed", ofBid().slice(0, -3)],
  "two documents": ["malformed", ofBid() + ofBid()],
  "trailing comma": ["malformed", response(`[${bid()},]`.replace("[{", '[{"seat":"s","bid":[{'))],
  "single quotes": ["malformed", "{'id':'r1'}"],
  "a comment": ["malformed", `/* bid */${ofBid()}`],
  "NaN as a price": ["malformed", ofBid("", "NaN")],
  "Infinity as a price": ["malformed", ofBid("", "Infinity")],
  "a price with a plus": ["malformed", ofBid("", "+1.25")],
  "a price with a leading zero": ["malformed", ofBid("", "01.25")],
  "a price without a whole part": ["malformed", ofBid("", ".25")],
  "a price without a fraction": ["malformed", ofBid("", "1.")],
  "a price in hexadecimal": ["malformed", ofBid("", "0x10")],
  JSONP: ["malformed", `callback(${ofBid()})`],
  XML: ["malformed", '<?xml version="1.0"?><VAST/>'],
  HTML: ["malformed", "<!doctype html><title>Sign in</title>"],
  "control characters in a text": ["malformed", ofBid('"crid":"a\u0001b"')],
  "nested 10,000 times": ["malformed", nested(10_000)],
  "nested 100,000 times": ["malformed", nested(100_000)],
  "nested within a bid": ["malformed", ofBid(`"ext":${nested(100_000)}`)],
  "UTF-16": ["malformed", utf16(ofBid())],
  "bytes that are no text": ["malformed", randomBytes(512)],
  "zero bytes": ["malformed", Buffer.alloc(512)],
  // Prices.
  price: ["lost", ofBid()],
  "price as text": ["lost", ofBid("", '"1.25"')],
  "price as text with spaces": ["lost", ofBid("", '" 1.25 "')],
  "price as text with a comma": ["no-price", ofBid("", '"1,25"')],
  "price as text with a currency": ["no-price", ofBid("", '"$1.25"')],
  "price as text in hexadecimal": ["no-price", ofBid("", '"0x10"')],
  "price in Arabic digits": ["no-price", ofBid("", '"١.٢٥"')],
  "empty price": ["no-price", ofBid("", '""')],
  "price of null": ["no-price", ofBid("", "null")],
  "price of true": ["no-price", ofBid("", "true")],
  "price in a list": ["no-price", ofBid("", "[1.25]")],
  "price in an object": ["no-price", ofBid("", '{"amount":1.25}')],
  "negative price": ["no-price", ofBid("", "-1.25")],
  "price of 0": ["no-price", ofBid("", "0")],
  "price of 0.0": ["no-price", ofBid("", "0.0")],
  "price of -0": ["no-price", ofBid("", "-0")],
  "price below a millionth": ["no-price", ofBid("", "0.0000001")],
  "price of 1e-7": ["no-price", ofBid("", "1e-7")],
  "price of a millionth": ["lost", ofBid("", "0.000001")],
  "price with an exponent": ["lost", ofBid("", "1.25e0")],
  "price with a large exponent": ["lost", ofBid("", "0.00000125E+6")],
  "price of 1e400": ["implausible-price", ofBid("", "1e400")],
  "price of 1e999": ["implausible-price", ofBid("", "1e999")],
  "price of 1e9999": ["no-price", ofBid("", "1e9999")],
  "price in micros": ["implausible-price", ofBid("", "1250000")],
  "price of 40 digits": ["no-price", ofBid("", "1".repeat(40))],
  "price of 25 decimals": ["lost", ofBid("", "1.2500000000000000000000001")],
  "two prices, the last of which counts": ["no-price", ofBid('"price":0')],
  "price in capitals": ["no-price", response(seats(`{"impid":"1","PRICE":1.25,"adm":"${vast}"}`))],
  // Ids, currencies and lists.
  "another id": ["other-request", response(seats(bid()), '"id":"r2","cur":"USD"')],
  "no id": ["lost", response(seats(bid()), '"cur":"USD"')],
  "an id of null": ["lost", response(seats(bid()), '"id":null,"cur":"USD"')],
  "two ids, the last of which counts": ["other-request", response(seats(bid()), '"id":"r1","id":"r2","cur":"USD"')],
  "no currency is dollars": ["lost", response(seats(bid()), '"id":"r1"')],
  "a currency of null": ["lost", response(seats(bid()), '"id":"r1","cur":null')],
  "a currency in small letters": ["lost", response(seats(bid()), '"id":"r1","cur":"usd"')],
  "a currency in a list": ["lost", response(seats(bid()), '"id":"r1","cur":["USD"]')],
  "another currency in a list": ["lost", response(seats(bid()), '"id":"r1","cur":["EUR"]')],
  "another currency": ["other-currency", response(seats(bid()), '"id":"r1","cur":"EUR"')],
  "a currency that is none": ["other-currency", response(seats(bid()), '"id":"r1","cur":"dollars"')],
  "another impression": ["other-impression", ofBid('"impid":"2"')],
  "an impression as a number": ["lost", ofBid('"impid":1')],
  "no impression": ["other-impression", response(seats(`{"price":1.25,"adm":"${vast}"}`))],
  "categories as a text": ["blocked-category", ofBid('"cat":"IAB26"')],
  "categories of null": ["lost", ofBid('"cat":null')],
  "categories of numbers": ["lost", ofBid('"cat":[1,2]')],
  "a blocked category in small letters": ["blocked-category", ofBid('"cat":["iab25-3"]')],
  "a category that only begins alike": ["lost", ofBid('"cat":["IAB250"]')],
  "a thousand categories": ["lost", ofBid(`"cat":[${Array(1000).fill('"IAB1"').join(",")}]`)],
  "a domain as a text": ["blocked-domain", ofBid('"adomain":"casino.example"')],
  "a domain as an address": ["blocked-domain", ofBid('"adomain":["https://www.Casino.example/play?x=1"]')],
  "a domain with a final dot": ["blocked-domain", ofBid('"adomain":["casino.example."]')],
  "a domain below": ["blocked-domain", ofBid('"adomain":["play.casino.example"]')],
  "a domain that only ends alike": ["lost", ofBid('"adomain":["notcasino.example"]')],
  "attributes as texts": ["blocked-attribute", ofBid('"attr":["8"]')],
  "one attribute": ["blocked-attribute", ofBid('"attr":14')],
  "a banner": ["other-format", ofBid('"mtype":1')],
  native: ["other-format", ofBid('"mtype":4')],
  "a type as text": ["lost", ofBid('"mtype":"2"')],
  "a type of null": ["lost", ofBid('"mtype":null')],
  "no markup": ["no-markup", response(seats('{"impid":"1","price":1}'))],
  "empty markup": ["no-markup", response(seats('{"impid":"1","price":1,"adm":" ","nurl":""}'))],
  "markup that is an object": ["no-markup", response(seats('{"impid":"1","price":1,"adm":{"vast":"x"}}'))],
  "nurl alone": ["lost", response(seats('{"impid":"1","price":1,"nurl":"https://x.example/"}'))],
  "of two bids, one that fits": ["lost", response(seats(bid('"mtype":1'), bid()))],
  "of two seats, one that fits": ["lost", response(`[{"bid":[${bid("", "0")}]},{"bid":[${bid()}]}]`)],
  "a hundred and one bids": ["lost", response(seats(...Array<string>(101).fill(bid())))],
  "unknown fields": ["lost", ofBid('"dealid":"d","ext":{"prebid":{"type":"video"}},"__proto__":{"price":9}')],
  "__proto__ as a response": ["no-bid", '{"__proto__":{"seatbid":[{"bid":[{}]}]}}'],
  "half of a surrogate pair": ["lost", ofBid('"crid":"\\ud800"')],
  "U+0000": ["lost", ofBid('"crid":"a\\u0000b","seat":"\\u0000"')],
  "a byte order mark": ["lost", `\ufeff${ofBid()}`],
  "Latin-1 in a text": ["lost", Buffer.from(ofBid('"crid":"caf\u00e9"'), "latin1")],
  "macros everywhere": [
    "lost",
    ofBid(
      `"crid":"${macro("PRICE")}","lurl":"https://${macro("ID")}.example/","burl":"${macro("PRICE")}","seat":"${macro("SEAT_ID")}"`,
    ),
  ],
  // The way it is sent.
  "200 without a body": ["no-bid", status(200)],
  "201": ["status", status(201, ofBid())],
  "206": ["status", status(206, ofBid())],
  "301": ["status", status(301, "", { location: "/elsewhere" })],
  "302 to itself": ["status", status(302, "", { location: "/" })],
  "307": ["status", status(307, "", { location: "https://elsewhere.example/" })],
  "304": ["status", status(304)],
  "400": ["status", status(400, "bad request")],
  "401": ["status", status(401)],
  "404": ["status", status(404, "<html>")],
  "429": ["status", status(429, "", { "retry-after": "10" })],
  "503": ["status", status(503, "busy")],
  "another content type": ["lost", status(200, ofBid(), { "content-type": "text/html" })],
  "no content type": ["lost", status(200, ofBid())],
  gzip: ["lost", coded("gzip", gzipSync(ofBid()))],
  "x-gzip": ["lost", coded("x-gzip", gzipSync(ofBid()))],
  deflate: ["lost", coded("deflate", deflateSync(ofBid()))],
  "raw deflate": ["lost", coded("deflate", deflateRawSync(ofBid()))],
  brotli: ["lost", coded("br", brotliCompressSync(ofBid()))],
  identity: ["lost", coded("identity", Buffer.from(ofBid()))],
  "gzip that is none": ["malformed", coded("gzip", Buffer.from(ofBid()))],
  "gzip that is cut off": ["malformed", coded("gzip", gzipSync(ofBid()).subarray(0, 30))],
  "an unknown encoding": ["malformed", coded("zebra", Buffer.from(ofBid()))],
  "a bomb of gzip": ["too-large", coded("gzip", gzipSync(Buffer.alloc(50_000_000)))],
  "a bomb of brotli": ["too-large", coded("br", brotliCompressSync(Buffer.alloc(50_000_000)))],
  "a body of 300 kB": ["too-large", " ".repeat(300_000)],
  "a body that says that it is large": [
    "timeout",
    (to) => void to.writeHead(200, { "content-length": "9999999" }).write("{"),
  ],
  chunks: [
    "lost",
    (to) => {
      to.writeHead(200);
      for (const letter of ofBid()) to.write(letter);
      to.end();
    },
  ],
  "a body that never ends": ["timeout", (to) => void to.writeHead(200).write("{")],
  "no answer": ["timeout", () => {}],
  "headers after the limit": ["timeout", (to) => void setTimeout(() => to.end(ofBid()), 600)],
  "cut off in the middle": [
    "unreachable",
    (to) => {
      to.writeHead(200, { "content-length": "900" });
      to.write(ofBid().slice(0, 20));
      setTimeout(() => to.destroy(), 30);
    },
  ],
  "closed without an answer": ["unreachable", (to) => void to.socket?.destroy()],
};

/** Raw bytes that no HTTP server sends. */
const rawAnswers: Readonly<Record<string, readonly [BidOutcome, string]>> = {
  "no HTTP": ["unreachable", "hello\r\n\r\n"],
  "a status that is none": ["unreachable", "HTTP/1.1 abc\r\n\r\n"],
  "a header without a colon": ["unreachable", "HTTP/1.1 200 OK\r\nbroken\r\n\r\n"],
  "two lengths": ["unreachable", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"],
  "a chunk of no size": ["unreachable", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n"],
  "headers without end": ["too-large", `HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}`],
  "an end by closing": ["no-bid", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}"],
  "a body behind a 204": ["no-bid", "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n{}"],
  "100 before 200": ["no-bid", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
};

describe("each answer of a buyer ends in one named outcome", () => {
  const server = createServer((request, to) => {
    request.resume();
    const [, answer] = answers[decodeURIComponent((request.url ?? "/").slice(1))] ?? ["", status(500)];
    if (typeof answer === "function") answer(to);
    else to.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  let current = "";
  const raw = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(rawAnswers[current]?.[1] ?? ""));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await deps.requests.close();
    server.closeAllConnections();
    server.close();
    raw.close();
  });

  const portOf = (of: { address(): unknown }) => (of.address() as AddressInfo).port;
  const deps = {
    requests: openGuardedRequests({
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: [], vast: [], video: [], buyer: ["127.0.0.1/32"] },
    }),
    secretBox: secretBox(randomBytes(32)),
    seller: { publicUrl: "https://ads.example", currency: "USD" },
  };
  const opening = {
    requestId: "r1",
    botId: "1",
    botName: "Quiz",
    userId: "2",
    userAgent: "node",
    language: "en",
    country: "DE",
    format: "rewarded" as const,
    isPremium: false,
    consent: undefined,
    address: undefined,
    isTest: false,
  };
  const request = (url: string, change: Partial<RequestedBuyer> = {}) => {
    const ids = { buyerId: "buy_1", campaignId: "cmp_1", creativeId: "cre_1", skipAfterSeconds: 5 };
    const buyer = { ...usualBuyer, ...ids, url, userKey: Buffer.alloc(32), sealedKey: null, isOffered: true };
    const blocked = { tmaxMs: 400, blockedDomains: ["casino.example"], ...change };
    return requestBid(deps, { ...buyer, ...blocked }, { opening, leftMs: 800 });
  };

  test.for(Object.entries(answers))("%s", async ([name, [outcome]]) => {
    const answer = await request(`http://127.0.0.1:${portOf(server)}/${encodeURIComponent(name)}`);
    expect(answer.outcome).toBe(outcome);
    expect(bidOutcomes).toContain(answer.outcome);
    for (const { outcome: ofBid, cpmMicros } of answer.bids) {
      expect(bidOutcomes).toContain(ofBid);
      expect(cpmMicros === null || Number.isSafeInteger(cpmMicros)).toBe(true);
    }
  });

  test("what is no HTTP", async () => {
    for (const [name, [outcome]] of Object.entries(rawAnswers)) {
      current = name;
      expect((await request(`http://127.0.0.1:${portOf(raw)}/`)).outcome, name).toBe(outcome);
    }
  });
});

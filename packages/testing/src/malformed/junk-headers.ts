/** One item per line: one header line, or several. */
const short = `
content-length: -1
content-length: +2
content-length: 0x10
content-length: 1e3
content-length: 99999999999999999999
content-length: 2, 2
content-length: 5\r\ncontent-length: 6
content-length:
content-length: 99999
content-length: 70000
transfer-encoding: chunked
transfer-encoding: identity
transfer-encoding: gzip, chunked
transfer-encoding: chunked, chunked
transfer-encoding: xchunked
transfer-encoding: chunked\r\ncontent-length: 4
transfer-encoding:
te: trailers
trailer: x
content-type: text/plain
content-type: text/html
content-type: application/x-www-form-urlencoded
content-type: application/xml
content-type: application/json; charset=utf-16
content-type: application/json;;;=
content-type: application/jsonx
content-type: /
content-type:
content-type: multipart/form-data; boundary=
content-type: application/octet-stream
content-type: application/json\r\ncontent-type: text/css
content-type: \u00ff
content-encoding: gzip
content-encoding: br, x
expect: 100-continue
expect: tea
expect:
upgrade: websocket\r\nconnection: upgrade
upgrade: h2c\r\nconnection: upgrade, http2-settings
upgrade: x
connection: close
connection: keep-alive, close, x
connection: \u0001
keep-alive: timeout=-1
proxy-connection: x
http2-settings: x
host:
host: [
host: a b
host: x\r\nhost: y
host: x:99999
host: \u00ff
host: evil.test
authorization:
authorization: Bearer
authorization: Bearer \u00ff
authorization: Basic YTpi
authorization: Bearer a\r\nauthorization: Bearer b
cookie: =;=;
accept: */*;q=nan
accept: text/event-stream
accept-language: *
accept-language: x-\u00ff;q=9
accept-encoding: gzip;q=0, *;q=0
user-agent:
user-agent: curl/8
user-agent: Mozilla/5.0 (iPhone) Safari/604.1
purpose: prefetch
sec-fetch-site: \u00ff
range: bytes=0-
range: bytes=-1
range: bytes=9-1
range: bytes=a-b
range: bytes=0-1,3-4
range: x
if-none-match: *
if-none-match: "
if-modified-since: x
if-range: x
if-match: x
origin: null
origin: http://evil.test
origin: https://ads.example
origin: \u0080
origin: https://ads.example\r\naccess-control-request-method: DELETE
origin: x\r\naccess-control-request-method: POST
referer: \u00ff
access-control-request-method: GET
access-control-request-headers: x,,,
x-request-id: a
x-request-id: \u00ff
x-forwarded-for: 1.2.3.4:99, x, [::1]
x-forwarded-for: \u00ff
x-forwarded-host: x
x-forwarded-proto: x
forwarded: for=x
via: 1.1 x
x-signature: sha256=
x-signature: sha256=0000000000000000000000000000000000000000000000000000000000000000
x-signature: a\r\nx-signature: b
x-bot-id: \u00ff
webhook-id: x
webhook-signature: v1,
webhook-timestamp: 1e400
save-data: \u00ff
ect: x
sec-ch-dpr: -1
downlink: nan
priority: u=9
trpc-accept: application/jsonl
x-trpc-source: \u00ff
no colon
: no name
bad name: x
b\u0000d: x
x: \u0000
x: a\u0001b
 folded: x
x: a\r\n b
x:\r\n\ty
\u00e9: x
last-event-id: x
max-forwards: 0
content-range: bytes 0-1/2
content-md5: x
date: x
x\u007f: y
{}: x
connection: te\r\nte: x
`;

/** Header lines as they are sent. */
export const headerLines = [
  ...short.trim().split(/(?<!\r)\n/),
  `content-type: ${"a".repeat(500)}`,
  `upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13`,
  `host: ${"h".repeat(300)}`,
  `authorization: Bearer ${"x".repeat(9000)}`,
  `cookie: ${"c".repeat(4000)}`,
  `accept-language: ${"en,".repeat(900)}`,
  `user-agent: ${"m".repeat(3000)}`,
  `x-request-id: ${"r".repeat(200)}`,
  `x: ${"z".repeat(20000)}`,
];

/**
 * A stand-in for a buyer of OpenRTB 2.6: it answers each request by the scenario in its path, as `/openrtb2/bid`, and shows what
 * it is told. `/telegram-bid` and `/telegram-mb` answer as the feeds of RichAds do. For the demo (docs/demand.md) and for tests; it buys nothing.
 *
 *     ./pnpm node examples/buyer.ts
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";

interface ReceivedRequest {
  id: string;
  imp: { id: string; bidfloor?: number; rwdd?: number }[];
  cur?: string[];
  [field: string]: unknown;
}

export type Bid = Record<string, unknown>;
type Answer = { status: number; body: string; type?: string; encoding?: "gzip"; delayMs?: number };

const macro = (name: string) => `\${AUCTION_${name}}`;

/** What the stand-in answers in each scenario, and how it ends. */
const scenarios = {
  bid: (of) => bids(of),
  gzip: (of) => ({ ...bids(of), encoding: "gzip" }),
  "only-interstitials": (of) => (of.request.imp[0]?.rwdd === 1 ? text(200, {}) : bids(of)),
  nurl: (of) => bids(of, { adm: undefined, nurl: `${of.self}/vast?win=${macro("PRICE")}` }),
  several: (of) =>
    text(200, {
      id: of.request.id,
      cur: of.currency,
      seatbid: [
        {
          seat: "low",
          bid: [bidOf(of, { id: "low", price: 0.01 }), bidOf(of, { id: "broken", price: 9, adm: "<VAST" })],
        },
        { seat: "high", bid: [bidOf(of, { id: "high", price: 2 })] },
      ],
    }),
  macros: (of) =>
    bids(of, {
      burl: `${of.self}/bill?p=${macro("PRICE")}&b64=${macro("PRICE:B64")}&enc=%24%7BAUCTION_ID%7D&seat=${macro("SEAT_ID")}`,
    }),
  "price-as-text": (of) => bids(of, { price: "1.25" }),
  expensive: (of) => bids(of, { price: 4_000_000 }),
  "no-content": () => ({ status: 204, body: "" }),
  "empty-object": () => text(200, {}),
  "no-seats": (of) => text(200, { id: of.request.id, seatbid: [] }),
  "no-bid-reason": (of) => text(200, { id: of.request.id, nbr: 8 }),
  slow: (of) => ({ ...bids(of), delayMs: 2000 }),
  malformed: () => ({ status: 200, body: '{"id":"1","seatbid":[{"bid":[{"price":1.2' }),
  "html-page": () => ({ status: 200, body: "<html>Sign in</html>", type: "text/html" }),
  "too-large": () => ({ status: 200, body: JSON.stringify({ id: "x".repeat(300_000) }) }),
  error: () => ({ status: 500, body: "out of order" }),
  "wrong-currency": (of) => bids(of, {}, { cur: "XAU" }),
  "wrong-id": (of) => bids(of, {}, { id: "another" }),
  "below-floor": (of) => bids(of, { price: Math.max(0.000001, (of.request.imp[0]?.bidfloor ?? 1) / 2) }),
  "no-price": (of) => bids(of, { price: undefined }),
  "blocked-category": (of) => bids(of, { cat: ["IAB25-3"] }),
  "blocked-domain": (of) => bids(of, { adomain: ["casino.example"] }),
  "blocked-attribute": (of) => bids(of, { attr: [8] }),
  banner: (of) => bids(of, { mtype: 1, adm: "<div>ad</div>" }),
  "no-markup": (of) => bids(of, { adm: undefined, nurl: undefined }),
  // Half of a surrogate pair, and U+0000: no address and no database takes them.
  "half-characters": (of) => text(200, { ...JSON.parse(bids(of).body), seatbid: [halfCharacters(of)] }),
  "broken-vast": (of) => bids(of, { adm: "<VAST version='4.0'><Ad>" }),
  "too-long": (of) => bids(of, { adm: vastOf(of, "00:02:30") }),
} satisfies Record<string, (of: Scene) => Answer>;

export type Scenario = keyof typeof scenarios;
const scenarioNames = Object.keys(scenarios) as Scenario[];

/** What a scenario answers to. */
interface Scene {
  request: ReceivedRequest;
  currency: string;
  /** The stand-in's own address. */
  self: string;
  /** Changes each bid. */
  changeBid?: ((bid: Bid) => Bid) | undefined;
}

function bidOf({ request, self, changeBid = (bid) => bid }: Scene, change: Bid = {}): Bid {
  const scene = { request, self, currency: "" };
  return changeBid({
    id: "bid-1",
    impid: request.imp[0]?.id,
    price: 1.25,
    adm: vastOf(scene, "00:00:10"),
    nurl: `${self}/win?id=${macro("ID")}&p=${macro("PRICE")}&c=${macro("CURRENCY")}`,
    burl: `${self}/bill?id=${macro("ID")}&p=${macro("PRICE")}`,
    lurl: `${self}/loss?bid=${macro("BID_ID")}&why=${macro("LOSS")}&p=${macro("PRICE")}`,
    adomain: ["shop.example"],
    cat: ["IAB22"],
    crid: "creative-1",
    mtype: 2,
    ...change,
  });
}

function halfCharacters(of: Scene) {
  const { burl, lurl } = bidOf(of);
  const seatId = macro("SEAT_ID");
  return {
    seat: "\ud800",
    bid: [bidOf(of, { crid: "\udc00", burl: `${burl}&\0=${seatId}`, lurl: `${lurl}&seat=${seatId}` })],
  };
}

function bids(of: Scene, change: Bid = {}, response: Record<string, unknown> = {}): Answer {
  const seatbid = [{ seat: "seat-1", bid: [bidOf(of, change)] }];
  return text(200, { id: of.request.id, bidid: "response-1", cur: of.currency, seatbid, ...response });
}

function text(status: number, body: object): Answer {
  return { status, body: JSON.stringify(body) };
}

function vastOf({ self }: Scene, duration: string): string {
  return `<VAST version="4.0"><Ad id="1"><InLine><AdSystem>Stand-in</AdSystem><AdTitle>A bought ad</AdTitle>
    <Advertiser>Shop</Advertiser><Impression><![CDATA[${self}/impression]]></Impression>
    <Creatives><Creative><Linear><Duration>${duration}</Duration>
    <TrackingEvents><Tracking event="complete"><![CDATA[${self}/complete]]></Tracking></TrackingEvents>
    <VideoClicks><ClickThrough><![CDATA[${self}/shop]]></ClickThrough></VideoClicks>
    <MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="640" height="360"><![CDATA[${self}/ad.mp4]]></MediaFile></MediaFiles>
    </Linear></Creative></Creatives></InLine></Ad></VAST>`;
}

export interface ReceivedCall {
  path: string;
  url: string;
  headers: IncomingMessage["headers"];
  /** Of a request for a bid. */
  request?: ReceivedRequest;
}

const usualVideo = join(import.meta.dirname, "../apps/ad-service/sample/house-ad.mp4");

/** Starts a stand-in on this machine. `notice` answers calls of `/win` and `/bill`; default: 204. `changeBid` changes each bid. */
export async function openBuyer({
  port = 0,
  video = usualVideo,
  onCall = () => {},
  notice = () => 204,
  changeBid,
}: {
  port?: number;
  video?: string;
  onCall?: (call: ReceivedCall) => void;
  notice?: (call: ReceivedCall) => number;
  changeBid?: (bid: Bid) => Bid;
} = {}) {
  const calls: ReceivedCall[] = [];
  const bytes = await readFile(video);
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const self = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url ?? "/", self);
    const call: ReceivedCall = { path, url: request.url ?? "", headers: request.headers };
    calls.push(call);
    const name = path.replace("/openrtb2/", "");
    if (request.method === "POST" && isScenario(name)) {
      const received = (await json(request)) as ReceivedRequest;
      call.request = received;
      onCall(call);
      const currency = received.cur?.[0] ?? "USD";
      return send(response, scenarios[name]({ request: received, currency, self, changeBid }));
    }
    const feed = request.method === "POST" && Object.hasOwn(feeds, path) ? feeds[path] : undefined;
    if (feed) {
      call.request = (await json(request)) as ReceivedRequest;
      onCall(call);
      return send(response, feed(self, call.request, changeBid));
    }
    onCall(call);
    if (path === "/ad.mp4")
      return void response.writeHead(200, { "content-type": "video/mp4", "content-length": bytes.length }).end(bytes);
    if (path === "/vast")
      return send(response, { status: 200, body: vastOf({ self } as Scene, "00:00:10"), type: "application/xml" });
    if (path === "/shop") return send(response, { status: 200, body: "The shop of the bought ad", type: "text/html" });
    return send(response, { status: path === "/win" || path === "/bill" ? notice(call) : 204, body: "" });
  }

  return {
    address: self,
    /** Where requests for a scenario go. */
    urlOf: (scenario: Scenario) => `${self}/openrtb2/${scenario}`,
    feedUrl: `${self}/telegram-bid`,
    cardsUrl: `${self}/telegram-mb`,
    calls,
    callsOf: (path: string) => calls.filter((call) => call.path === path).map(({ url }) => url),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As RichAds answers: a list, whose prices name no currency. */
const feeds: Record<string, (self: string, request: ReceivedRequest, changeBid?: (bid: Bid) => Bid) => Answer> = {
  "/telegram-bid": videoAnswer,
  "/telegram-mb": cardAnswer,
};

/** Without the viewer's address there is nothing. */
function videoAnswer(self: string, { ip }: ReceivedRequest): Answer {
  if (typeof ip !== "string") return text(200, []);
  const bid = {
    creative_type: "vast",
    html: vastOf({ self } as Scene, "00:00:10"),
    bid_price: 1.4,
    notification_url: `${self}/bill`,
    creative_id: 3_702_907,
  };
  return text(200, [{ ...bid, creative_type: "interstitial", html: "<div>ad</div>", bid_price: 9 }, bid]);
}

/** A message for a chat. The address in `image` counts, that in `image_preload` is the file alone. */
function cardAnswer(self: string, _request: ReceivedRequest, changeBid = (bid: Bid) => bid): Answer {
  const card = {
    title: "Summer sale",
    message: "Everything at half price until Sunday.",
    image: `${self}/impression?img=${encodeURIComponent(`${self}/sale.jpeg`)}`,
    image_preload: `${self}/sale.jpeg`,
    link: `${self}/shop`,
    notification_url: `${self}/bill?card=1`,
    brand: "Shop",
    button: "Look",
    bid_price: 0.31,
    creative_type: "message bot",
    creative_id: 3_702_907,
  };
  return text(200, [changeBid(card)]);
}

function isScenario(name: string): name is Scenario {
  return Object.hasOwn(scenarios, name);
}

async function send(
  response: ServerResponse,
  { status, body, type = "application/json", encoding, delayMs = 0 }: Answer,
) {
  if (delayMs > 0) await wait(delayMs);
  const headers = { "content-type": type, ...(encoding && { "content-encoding": encoding }) };
  response.writeHead(status, status === 204 ? {} : headers);
  response.end(encoding === undefined ? body : gzipSync(body));
}

if (import.meta.main) {
  const buyer = await openBuyer({
    port: Number(process.env.PORT ?? 8790),
    onCall: ({ url, request }) =>
      console.log(request === undefined ? `called: ${url}` : `request ${request.id}: ${url}`),
  });
  console.log(`A stand-in for a buyer of OpenRTB listens. Its scenarios:\n`);
  for (const name of scenarioNames) console.log(`  ${buyer.urlOf(name)}`);
  console.log(`\nAdd it: ./pnpm ads buyers add "Stand-in" --address ${buyer.urlOf("bid")}`);
  console.log(
    `Its cards for chats: ./pnpm ads buyers add "Cards" --protocol richads-cards --key 1 --address ${buyer.cardsUrl}`,
  );
}

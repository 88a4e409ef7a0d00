import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** An advertiser's ad server: it answers tags, and keeps what was asked. In a text, `{self}` is its own address. */
export async function openSampleAdServer(answers: Record<string, Answer>) {
  const calls: { path: string; url: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", address());
    calls.push({ path: pathname, url: request.url ?? "", headers: request.headers });
    const answer = answers[pathname];
    if (typeof answer === "function") return answer(request, response);
    if (answer === undefined) return response.writeHead(204).end();
    response.writeHead(200, { "content-type": "application/xml" }).end(answer.replaceAll("{self}", address()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };

  function address(): string {
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("an ad server has no port");
    return `http://127.0.0.1:${bound.port}`;
  }
  return {
    address: address(),
    calls,
    answers,
    close,
    callsOf: (path: string) => calls.filter((call) => call.path === path).map(({ url }) => url),
  };
}

const cdata = (text: string) => `<![CDATA[ ${text} ]]>`;
const mp4 = `<MediaFile delivery="progressive" type="video/mp4" width="640" height="360" bitrate="500">${cdata("{self}/ad.mp4")}</MediaFile>`;

export interface Sample {
  version?: string;
  duration?: string;
  files?: string;
  /** Inside `Linear`, after the duration. */
  clicks?: string;
  tracking?: string;
  /** Inside `InLine`, after the creatives. */
  more?: string;
  sequence?: number;
  name?: string;
}

const events = ["creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "closeLinear"];

/** All events of one party, each at an address of its own. */
export function trackingOf(party: string): string {
  const tracking = events.map(
    (event) => `<Tracking event="${event}">${cdata(`{self}/${party}/${event}?at=[ADPLAYHEAD]`)}</Tracking>`,
  );
  return `<TrackingEvents>${tracking.join("")}</TrackingEvents>`;
}

/** The shape of IAB's "Inline Linear" sample. */
export function inline(sample: Sample = {}): string {
  const { duration = "00:00:10", files = mp4, tracking = trackingOf("inline"), more = "", name = "inline" } = sample;
  const clicks =
    sample.clicks ??
    `<VideoClicks><ClickThrough>${cdata("https://shop.example/sale?c=[CLICKID]")}</ClickThrough><ClickTracking>${cdata(`{self}/${name}/click`)}</ClickTracking></VideoClicks>`;
  const sequence = sample.sequence === undefined ? "" : ` sequence="${sample.sequence}"`;
  return vast(
    `<Ad id="20001"${sequence}><InLine><AdSystem version="1.0">Sample server</AdSystem>
    <Error>${cdata(`{self}/${name}/error?code=[ERRORCODE]`)}</Error>
    <Impression id="main">${cdata(`{self}/${name}/impression?cb=[CACHEBUSTING]`)}</Impression>
    <AdTitle>Inline linear ad</AdTitle><Advertiser>Sample advertiser</Advertiser>
    <Creatives><Creative id="5480" sequence="1"><Linear><Duration>${duration}</Duration>${tracking}${clicks}
      ${files === "" ? "" : `<MediaFiles>${files}</MediaFiles>`}</Linear></Creative></Creatives>${more}</InLine></Ad>`,
    sample.version,
  );
}

/** The shape of IAB's "Wrapper" sample. */
export function wrapper(to: string, { name = "wrapper", version = "4.0", attributes = "" } = {}): string {
  return vast(
    `<Ad id="${name}"><Wrapper ${attributes}><AdSystem>Wrapping server</AdSystem>
    <Error>${cdata(`{self}/${name}/error?code=[ERRORCODE]`)}</Error><Impression>${cdata(`{self}/${name}/impression`)}</Impression>
    <VASTAdTagURI>${cdata(to)}</VASTAdTagURI>
    <Creatives><Creative><Linear>${trackingOf(name)}<VideoClicks><ClickTracking>${cdata(`{self}/${name}/click`)}</ClickTracking></VideoClicks></Linear></Creative></Creatives></Wrapper></Ad>`,
    version,
  );
}

export function vast(inner: string, version = "4.0"): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<VAST version="${version}" xmlns="http://www.iab.com/VAST">${inner}</VAST>`;
}

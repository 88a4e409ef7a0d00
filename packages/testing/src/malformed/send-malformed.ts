import { connect } from "node:net";
import { seededRandom } from "../seeded-random.ts";
import { type MalformedRequest, malformedRequest, type Sample } from "./malformed-request.ts";

interface RawAnswer {
  /** The status of the final answer; interim answers are ignored. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  /** Identifies the request, together with the seed. */
  readonly index: number;
  readonly request: MalformedRequest;
  /** Undefined if the connection was closed without an answer. */
  readonly answer: RawAnswer | undefined;
  /** The server waited for more bytes until this side ended the connection. */
  readonly wasWaiting: boolean;
}

interface MalformedRun {
  readonly port: number;
  readonly seed: number;
  readonly count: number;
  readonly samples: readonly Sample[];
  /** Receives each exchange when it ends. */
  readonly onExchange: (exchange: Exchange) => void;
}

const AT_ONCE = 128;
/** A server without an answer after this time waits for the rest of the request, so this side ends the connection. */
const PATIENCE_MS = 1000;
const HANG_MS = 20_000;

/**
 * Sends `count` malformed requests, each on a connection of its own, to 127.0.0.1 only. The same seed sends the same bytes.
 * Rejects if a connection neither returns an answer nor ends within 20 s, which means that the server hangs.
 */
export async function sendMalformed({ port, seed, count, samples, onExchange }: MalformedRun): Promise<void> {
  const random = seededRandom(seed);
  let next = 0;
  const sendOneByOne = async () => {
    while (next < count) {
      const index = next++;
      const request = malformedRequest(random, samples);
      onExchange({ index, request, ...(await exchange(port, request.bytes)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendOneByOne));
}

/** Sends bytes on a new connection and returns the answer. */
function exchange(port: number, bytes: Buffer): Promise<Pick<Exchange, "answer" | "wasWaiting">> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let wasWaiting = false;
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const end = () => {
      clearTimeout(patience);
      clearTimeout(hang);
      socket.destroy();
      resolve({ answer: parseAnswer(Buffer.concat(chunks))?.answer, wasWaiting });
    };
    const patience = setTimeout(() => {
      wasWaiting = true;
      socket.end();
    }, PATIENCE_MS);
    const hang = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server hangs after ${JSON.stringify(bytes.toString("latin1").slice(0, 500))}`));
    }, HANG_MS);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (parseAnswer(Buffer.concat(chunks))?.isWhole) end();
    });
    socket.on("error", () => {});
    socket.once("close", end);
  });
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; isWhole: boolean } | undefined {
  const text = bytes.toString("latin1");
  const split = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = text.slice(0, split).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
  if (split < 0 || !status) return undefined;
  const rest = bytes.subarray(split + 4);
  if (status < 200 && status !== 101) return parseAnswer(rest);
  const pairs = lines.map((each) => [
    each.slice(0, each.indexOf(":")).toLowerCase(),
    each.slice(each.indexOf(":") + 1).trim(),
  ]);
  const headers: Record<string, string> = Object.fromEntries(pairs);
  const isChunked = headers["transfer-encoding"] === "chunked";
  const length = headers["content-length"];
  // Bytes after the body answer bytes after the request.
  const all = rest.toString("latin1");
  const body = isChunked ? unchunked(all) : all.slice(0, length === undefined ? undefined : Number(length));
  const isWhole = isChunked ? /(^|\r\n)0\r\n\r\n/.test(all) : length !== undefined && rest.length >= Number(length);
  return { answer: { status, headers, body: Buffer.from(body, "latin1").toString("utf8") }, isWhole };
}

function unchunked(text: string): string {
  let body = "";
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) break;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
  return body;
}

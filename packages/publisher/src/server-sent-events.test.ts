import { afterEach, expect, test, vi } from "vitest";
import { readEvents, type ServerSentEvent } from "./server-sent-events.ts";

afterEach(() => void vi.useRealTimers());

const streamOf = (chunks: string[], isEnding = true) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      if (isEnding) controller.close();
    },
  });
async function read(body: ReadableStream<Uint8Array>): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

const line = (text: string) => text.replaceAll("|", "\n");
const events = [
  { event: "connected", id: "", data: "{}" },
  { event: "message", id: "7", data: '{"a":\n1}' },
  { event: "message", id: "8", data: "" },
];
const text = line(
  ': connected||event: connected|data: {}||id: 7|data: {"a":|data: 1}||: ping||:||retry: 1000||id: 8|data||: ping||id: 9|data: lost',
);

test.each([
  ["line feeds", text],
  ["carriage returns with line feeds, as some proxies write them", text.replaceAll("\n", "\r\n")],
  ["carriage returns", text.replaceAll("\n", "\r")],
  ["a byte order mark", `\u{feff}${text}`],
])(
  "with %s, events are read wherever the chunks end, without comments and without an unfinished one",
  async (_name, sent) => {
    for (const size of [1, 2, 5, sent.length]) {
      const chunks = sent.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(await read(streamOf(chunks))).toEqual(events);
    }
  },
);

test("heartbeats of a day are not taken for one large event", async () => {
  const heartbeats = ": ping\n\n".repeat(8640) + ": ping\n".repeat(60_000);
  expect(await read(streamOf([heartbeats, "id: 1\ndata: x\n\n"]))).toEqual([{ event: "message", id: "1", data: "x" }]);
});

test("an event of more than 64 Ki characters is refused", async () => {
  await expect(read(streamOf(["data: ", "x".repeat(70_000)], false))).rejects.toThrow("too large");
  await expect(read(streamOf(["data: x\n".repeat(20_000)], false))).rejects.toThrow("too large");
});

test("half a minute of silence ends the stream", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reading = expect(read(streamOf(["event: ping\n\n"], false))).rejects.toThrow("silent for 30 s");
  await vi.advanceTimersByTimeAsync(30_000);
  await reading;
});

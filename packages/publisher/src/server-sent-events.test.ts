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

test("events are read wherever the chunks end, and an unfinished one is left out", async () => {
  const text = 'event: connected\ndata: {}\n\nid: 7\ndata: {"a":\ndata: 1}\n\r\n: comment\n\nid: 8\ndata: lost';
  for (const size of [1, 5, text.length]) {
    const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(await read(streamOf(chunks))).toEqual([
      { event: "connected", id: "", data: "{}" },
      { event: "message", id: "7", data: '{"a":\n1}' },
      { event: "message", id: "", data: "" },
    ]);
  }
});

test("an event of more than 64 Ki characters is refused", async () => {
  await expect(read(streamOf(["data: ", "x".repeat(70_000)], false))).rejects.toThrow("too large");
});

test("half a minute of silence ends the stream", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reading = expect(read(streamOf(["event: ping\n\n"], false))).rejects.toThrow("silent for 30 s");
  await vi.advanceTimersByTimeAsync(30_000);
  await reading;
});

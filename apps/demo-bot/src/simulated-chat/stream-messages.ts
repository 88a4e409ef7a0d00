import type { ServerResponse } from "node:http";
import type { SimulatedChat } from "./simulated-chat.ts";

const PING_EVERY_MS = 15_000;

/** Streams a conversation as server-sent events: one `history` with all messages, then a `message` for each new one. */
export function streamMessages(
  response: ServerResponse,
  chat: SimulatedChat,
  userId: string,
  stopping: AbortSignal,
): void {
  // nginx buffers answers by default, so that a message would wait for some 4 kB of others.
  const headers = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  const send = (event: string, data: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.write("retry: 1000\n\n");
  send("history", chat.history(userId));
  const stopListening = chat.listen(userId, (message) => send("message", message));
  const ping = setInterval(() => response.write(":\n\n"), PING_EVERY_MS);
  const end = () => response.end();
  stopping.addEventListener("abort", end);
  response.once("close", () => {
    stopListening();
    clearInterval(ping);
    stopping.removeEventListener("abort", end);
  });
  if (stopping.aborted) end();
}

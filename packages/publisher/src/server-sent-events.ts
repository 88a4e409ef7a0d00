export interface ServerSentEvent {
  /** `"message"` if the event has no name. */
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Several times an entry of the ledger. */
const MAX_CHARACTERS = 64 * 1024;
/** Three heartbeats of the API. */
const SILENCE_MS = 30_000;

/**
 * The events of a `text/event-stream` (HTML standard, 9.2), until the stream ends: with any of its line breaks, a byte order
 * mark and comments, which are heartbeats. Rejects if nothing arrives for 30 s, and for an event of more than 64 Ki
 * characters. The caller's work between two events does not count as silence.
 */
export async function* readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerSentEvent> {
  if (body === null) return;
  // The decoder leaves out a byte order mark.
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let unfinished = "";
  let block: string[] = [];
  let blockLength = 0;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      // A line feed may follow a carriage return in the next chunk.
      const lines = (unfinished + value).split(/\r\n|\n|\r(?!$)/);
      unfinished = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          const event = eventOf(block);
          block = [];
          blockLength = 0;
          if (event) yield event;
        } else if (!line.startsWith(":")) {
          block.push(line);
          blockLength += line.length;
        }
      }
      if (blockLength + unfinished.length > MAX_CHARACTERS) throw new Error("an event of the stream is too large");
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the stream was silent for ${SILENCE_MS / 1000} s`)), SILENCE_MS);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a block that is no event: comments, or only the time until a reconnection. */
function eventOf(lines: readonly string[]): ServerSentEvent | undefined {
  const fields: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  if (fields.event === undefined && fields.data === undefined) return undefined;
  return { event: fields.event ?? "message", id: fields.id ?? "", data: fields.data ?? "" };
}

export interface ServerSentEvent {
  /** `"message"` if the event has no name. */
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Several times an entry of the ledger. */
const MOST_CHARACTERS = 64 * 1024;
/** The API sends a ping every 10 s. */
const SILENCE_MS = 30_000;

/**
 * The events of a `text/event-stream` (HTML standard, 9.2), until the stream ends. Rejects if nothing arrives for 30 s, and
 * for an event of more than 64 Ki characters. The caller's work between two events does not count as silence.
 */
export async function* readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerSentEvent> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let buffered = "";
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      buffered += value;
      const blocks = buffered.split(/\r?\n\r?\n/);
      buffered = blocks.pop() ?? "";
      if (buffered.length > MOST_CHARACTERS) throw new Error("an event of the stream is too large");
      for (const block of blocks) yield parse(block);
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

function parse(block: string): ServerSentEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  return { event: fields.event ?? "message", id: fields.id ?? "", data: fields.data ?? "" };
}

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { wholeNumberOf } from "./client-settings.ts";
import { type JoinStore, joinsInMemory, type PendingJoin } from "./join-store.ts";
import { type EventStore, type MemoryOptions, rememberInMemory } from "./memory-store.ts";

/**
 * Handled events as lines of a file, for a bot of one process, on any version of Node, Bun or Deno. An event is on the disk
 * before its webhook is answered: one that is sent again after a restart is not handled again. What a handler does is done at
 * least once: it runs again if the process dies between it and the line, whereas `sqliteStore` writes both in one transaction.
 *
 * Remembers the last `maxEvents`, a million by default. A handler that does not end within 10 minutes (`maxHandlerMs`) is called
 * again. Requests to join a channel are in a file beside it, `<path>.joins`. Throws if a file cannot be opened.
 */
export function fileStore(path: string, { maxEvents = 1_000_000, maxHandlerMs }: MemoryOptions = {}): EventStore {
  if (typeof path !== "string" || path === "") throw new TypeError("fileStore needs the name of a file");
  wholeNumberOf(maxEvents, { option: "maxEvents", min: 1 });
  const log = openLog(path, maxEvents);
  /** Handled, while the file could not be written: a repeat writes the line alone. */
  const unwritten = new Set<string>();
  const { once } = rememberInMemory({ maxEvents: 1, maxHandlerMs });
  return {
    joins: joinsInFile(`${path}.joins`),
    async once(eventId, handle) {
      const line = JSON.stringify(eventId);
      if (log.has(line)) return;
      return once(eventId, async () => {
        if (!unwritten.has(line)) await handle();
        unwritten.add(line);
        log.append(line);
        unwritten.delete(line);
      });
    },
  };
}

/** Few wait at a time: each change writes all of them anew. */
function joinsInFile(path: string): JoinStore {
  const stored: PendingJoin[] = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
  return joinsInMemory(stored, (joins) => {
    writeFileSync(`${path}.new`, JSON.stringify([...joins]), { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
  });
}

const CHUNK_BYTES = 64 * 1024;

function openLog(path: string, maxLines: number) {
  const file = openSync(path, "a+", 0o600);
  const lines = new Set<string>();
  let [readBytes, readLines] = [0, 0];

  /** Also what another process wrote since. */
  function readOn(): void {
    const { size } = fstatSync(file);
    if (size === readBytes) return;
    const decoder = new TextDecoder();
    let rest = "";
    for (let at = readBytes; at < size; ) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, size - at));
      const count = readSync(file, chunk, 0, chunk.length, at);
      if (count === 0) break;
      at += count;
      const parts = (rest + decoder.decode(chunk.subarray(0, count), { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.add(line);
        const [oldest] = lines;
        if (lines.size > maxLines && oldest !== undefined) lines.delete(oldest);
      }
      readLines += parts.length;
    }
    readBytes = size - new TextEncoder().encode(rest).length;
  }

  readOn();
  if (readLines > 2 * maxLines) {
    closeSync(file);
    writeFileSync(`${path}.new`, `${[...lines].join("\n")}\n`, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    return openLog(path, maxLines);
  }
  return {
    has(line: string): boolean {
      readOn();
      return lines.has(line);
    },
    append(line: string): void {
      readOn();
      // Behind a line that a crash cut off, this one would not be read.
      const begin = fstatSync(file).size > readBytes ? "\n" : "";
      writeSync(file, `${begin}${line}\n`);
      fsyncSync(file);
    },
  };
}

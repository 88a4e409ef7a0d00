/** Writes to standard output, and says whether all of it arrived. */
interface Printer {
  print(text: string): void;
  /** Writes text as it comes, no faster than it is taken. Ends early once its reader is gone or its disk full. */
  copy(parts: AsyncIterable<string>): Promise<void>;
  /** The reason why something was not written, once all is written; undefined also for a reader that wants no more. */
  fault(): Promise<string | undefined>;
}

/** A full disk is an error here: `console.log` ignores it, and what is printed may be a token that is shown only once. */
export function openPrinter(output: NodeJS.WritableStream): Printer {
  const writes: Promise<string | undefined>[] = [];
  // Without a listener it ends the process.
  output.off("error", ignore).on("error", ignore);
  const write = (text: string | Uint8Array): Promise<string | undefined> =>
    new Promise((resolve) => {
      output.write(text, (error) => resolve(error ? codeOf(error) : undefined));
    });
  return {
    print(text) {
      // Written separately: on a full disk Node reports a partial write as complete, and only the next write fails.
      writes.push(write(text), write("\n"));
    },
    async copy(parts) {
      // The last byte is written separately, as above: of a larger part the full disk may keep the beginning, without an error.
      let last: Uint8Array = Buffer.of();
      for await (const part of parts) {
        const bytes = Buffer.from(part);
        if (bytes.length === 0) continue;
        const fault = last.length === 0 ? undefined : await write(last);
        last = bytes;
        if (fault === undefined) continue;
        writes.push(Promise.resolve(fault));
        return;
      }
      if (last.length > 0) writes.push(write(last.subarray(0, -1)), write(last.subarray(-1)));
    },
    async fault() {
      const faults = await Promise.all(writes);
      return faults.find((fault) => fault !== undefined && fault !== "EPIPE" && fault !== "ERR_STREAM_DESTROYED");
    },
  };
}

function ignore(): void {}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : error.message;
}

/** Writes to standard output, and says whether all of it arrived. */
interface Printer {
  print(text: string): void;
  /** The reason why something was not written, once all is written; undefined also for a reader that wants no more. */
  fault(): Promise<string | undefined>;
}

/** A full disk is an error here: `console.log` ignores it, and what is printed may be a token that is shown only once. */
export function openPrinter(output: NodeJS.WritableStream): Printer {
  const writes: Promise<string | undefined>[] = [];
  // Without a listener it ends the process.
  output.off("error", ignore).on("error", ignore);
  const write = (text: string) =>
    writes.push(
      new Promise((resolve) => {
        output.write(text, (error) => resolve(error ? codeOf(error) : undefined));
      }),
    );
  return {
    print(text) {
      write(text);
      // Written separately: on a full disk Node reports a partial write as complete, and only the next write fails.
      write("\n");
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

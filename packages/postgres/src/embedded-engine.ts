/** The thread of the embedded engine. `start-embedded-engine.ts` starts it and exchanges messages with it. */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { EngineAnswer, EngineQuestion } from "./start-embedded-engine.ts";

if (parentPort === null) throw new Error("this module must run in a worker");
const port = parentPort;
const answer = (message: EngineAnswer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

/** The exit status of PostgreSQL's main loop after a failed statement. Every other exit ends the engine. */
const LONGJMP_STATUS = 100;
const MOST_LAST_WORDS = 20;
/** The last lines of the engine's log: they contain the reason if the engine ends. */
const lastWords: string[] = [];

/** WASI error codes. The engine's file system throws them as plain objects without a message. */
const fileFaults: Record<number, string> = {
  2: "EACCES",
  19: "EDQUOT",
  29: "EIO",
  51: "ENOSPC",
  63: "EPERM",
  69: "EROFS",
};

function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (error instanceof Object && "errno" in error && typeof error.errno === "number") {
    return `a file could not be written or read: ${fileFaults[error.errno] ?? `WASI error ${error.errno}`}`;
  }
  return String(error);
}

function hear(line: string): boolean {
  lastWords.push(line.slice(0, 500));
  if (lastWords.length > MOST_LAST_WORDS) lastWords.shift();
  return true;
}

/**
 * After a PANIC or a FATAL the engine's memory is unusable. PGlite itself continues: it ignores the errors of the main loop
 * and calls it again, endlessly. So this ends the thread, and the answer reports it to the owner of the thread.
 */
function die(error: unknown): never {
  answer({ death: wordsOf(error), lastWords });
  process.exit(1);
}

function watchForDeath(engine: PGlite): void {
  const module = engine.Module;
  const runOnce = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (error) {
      if (error instanceof Object && "status" in error && error.status === LONGJMP_STATUS) throw error;
      die(error);
    }
  };
}

try {
  const engine = await PGlite.create({ dataDir: workerData.folder, onStderr: hear });
  watchForDeath(engine);
  port.on("message", (question: EngineQuestion) => {
    if ("burst" in question) {
      try {
        // Copied, because the engine overwrites this buffer with its next answer.
        const bytes = Uint8Array.from(engine.execProtocolRawSync(question.burst));
        answer({ bytes }, [bytes.buffer]);
      } catch (error) {
        // The engine itself answers failed statements, so this is the end of the engine.
        die(error);
      }
      return;
    }
    engine.close().then(() => {
      answer({ bytes: new Uint8Array() });
      port.close();
    }, die);
  });
  answer({ bytes: new Uint8Array() });
} catch (error) {
  die(error);
}

/** The embedded engine's own thread: `start-embedded-engine.ts` starts it and speaks to it. */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { EngineAnswer, EngineQuestion } from "./start-embedded-engine.ts";

if (parentPort === null) throw new Error("this module is a worker's");
const port = parentPort;
const answer = (message: EngineAnswer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

/** How PostgreSQL's main loop leaves a statement that failed; every other way out of it is the engine's end. */
const LONGJMP_STATUS = 100;
const MOST_LAST_WORDS = 20;
/** What the engine wrote to its log last: where it ends, the reason stands here. */
const lastWords: string[] = [];

/** Codes of WASI, as the engine's file system throws them: plain objects without a message. */
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
 * After a PANIC or a FATAL the engine's memory is of no use. PGlite itself goes on: it ignores what the main loop throws and
 * calls it again, without end. So the thread ends here, and its owner reads that from this answer.
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
        // A copy: the engine writes its next answer over this one.
        const bytes = Uint8Array.from(engine.execProtocolRawSync(question.burst));
        answer({ bytes }, [bytes.buffer]);
      } catch (error) {
        // A statement that fails is answered by the engine itself.
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

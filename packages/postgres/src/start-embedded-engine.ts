import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { EngineDeath } from "./store-faults.ts";

// V8's garbage collection of compiled WebAssembly frees code of another thread's engine and aborts the process (decision
// 0017). Disabling it keeps a few megabytes per engine. The flag is per process: set it before any thread compiles.
setFlagsFromString("--no-wasm-code-gc");

export type EngineQuestion = { burst: Uint8Array } | { close: true };
export type EngineAnswer = { bytes: Uint8Array } | { death: string; lastWords: readonly string[] };

/** An embedded PostgreSQL in a thread of its own, so that this thread serves requests while the engine works. */
export interface EmbeddedEngine {
  /** Sends a client's bytes and resolves to the engine's answer, one burst after the other. */
  exchange(burst: Uint8Array): Promise<Buffer>;
  /** Writes everything to disk and ends the thread. */
  close(): Promise<void>;
}

/**
 * Opens the store in `folder`, or makes it. Rejects with an `EngineDeath` when it cannot be opened.
 *
 * If the engine ends unexpectedly later (a PANIC, a FATAL, an abort of its WebAssembly, the end of its thread), all pending
 * exchanges reject, and `onDeath` is called once.
 */
export async function startEmbeddedEngine(
  folder: string,
  { onDeath = () => {} }: { readonly onDeath?: (death: EngineDeath) => void } = {},
): Promise<EmbeddedEngine> {
  // Without the flags and preloads of this process, which are for its main thread.
  const worker = new Worker(new URL("./embedded-engine.ts", import.meta.url), { workerData: { folder }, execArgv: [] });
  const waiting: { resolve(bytes: Uint8Array): void; reject(error: Error): void }[] = [];
  let state: "opening" | "open" | "closing" = "opening";
  let death: EngineDeath | undefined;
  const die = (error: EngineDeath) => {
    if (death !== undefined) return;
    death = error;
    for (const { reject } of waiting.splice(0)) reject(error);
    if (state === "open") onDeath(error);
  };
  worker.on("message", (answer: EngineAnswer) => {
    if ("bytes" in answer) waiting.shift()?.resolve(answer.bytes);
    else die(new EngineDeath(answer.death, { lastWords: answer.lastWords }));
  });
  worker.on("error", (cause) => {
    die(new EngineDeath(`the embedded database's thread failed: ${cause}`, { lastWords: [], cause }));
  });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      die(new EngineDeath("the embedded database is closed", { lastWords: [] }));
      resolve();
    });
  });

  function nextAnswer(): Promise<Uint8Array> {
    if (death) return Promise.reject(death);
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
    });
  }
  function ask(question: EngineQuestion, transfer: ArrayBuffer[] = []): Promise<Uint8Array> {
    const answer = nextAnswer();
    worker.postMessage(question, transfer);
    return answer;
  }

  try {
    await nextAnswer();
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  state = "open";
  return {
    async exchange(chunk) {
      // A copy is transferred, because a chunk may be a part of Node's shared buffer pool.
      const burst = Uint8Array.from(chunk);
      const { buffer, byteOffset, byteLength } = await ask({ burst }, [burst.buffer]);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    async close() {
      if (death) return;
      state = "closing";
      await ask({ close: true });
      await ended;
    },
  };
}

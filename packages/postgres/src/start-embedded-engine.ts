import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

// V8's collector of compiled WebAssembly frees code of another thread's engine, and aborts the process (decision 0017). What
// stays instead are a few megabytes for each engine. A flag of the process: set before the first thread compiles anything.
setFlagsFromString("--no-wasm-code-gc");

export type EngineQuestion = { burst: Uint8Array } | { close: true };
export type EngineAnswer = { bytes: Uint8Array } | { error: Error };

/** An embedded PostgreSQL in a thread of its own: while it works, this one serves requests. */
export interface EmbeddedEngine {
  /** Hands over what a client wrote and resolves to what the engine answers, one burst after the other. */
  exchange(burst: Uint8Array): Promise<Buffer>;
  /** Writes everything down and ends the thread. */
  close(): Promise<void>;
}

/** Opens the store in `folder`, or makes it. Rejects when it cannot be opened; if the thread dies, all that waits rejects. */
export async function startEmbeddedEngine(folder: string): Promise<EmbeddedEngine> {
  // Nothing of this process's own flags and preloads: they are for its main thread.
  const worker = new Worker(new URL("./embedded-engine.ts", import.meta.url), { workerData: { folder }, execArgv: [] });
  const waiting: { resolve(bytes: Uint8Array): void; reject(error: Error): void }[] = [];
  let death: Error | undefined;
  const die = (error: Error) => {
    death ??= error;
    for (const { reject } of waiting.splice(0)) reject(death);
  };
  worker.on("message", (answer: EngineAnswer) => {
    const asked = waiting.shift();
    if ("error" in answer) asked?.reject(answer.error);
    else asked?.resolve(answer.bytes);
  });
  worker.on("error", (cause) => die(new Error("the embedded database's thread failed", { cause })));
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      die(new Error("the embedded database is closed"));
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
  return {
    async exchange(chunk) {
      // A copy of its own is handed over: a chunk may be a part of Node's shared pool.
      const burst = Uint8Array.from(chunk);
      const { buffer, byteOffset, byteLength } = await ask({ burst }, [burst.buffer]);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    async close() {
      if (death) return;
      await ask({ close: true });
      await ended;
    },
  };
}

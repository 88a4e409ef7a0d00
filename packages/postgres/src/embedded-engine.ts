/** The embedded engine's own thread: `start-embedded-engine.ts` starts it and speaks to it. */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { EngineAnswer, EngineQuestion } from "./start-embedded-engine.ts";

if (parentPort === null) throw new Error("this module is a worker's");
const port = parentPort;
const answer = (message: EngineAnswer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const failure = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

try {
  const engine = await PGlite.create(workerData.folder);
  port.on("message", (question: EngineQuestion) => {
    if ("burst" in question) {
      try {
        // A copy: the engine writes its next answer over this one.
        const bytes = Uint8Array.from(engine.execProtocolRawSync(question.burst));
        answer({ bytes }, [bytes.buffer]);
      } catch (error) {
        answer({ error: failure(error) });
      }
      return;
    }
    engine.close().then(
      () => {
        answer({ bytes: new Uint8Array() });
        port.close();
      },
      (error) => answer({ error: failure(error) }),
    );
  });
  answer({ bytes: new Uint8Array() });
} catch (error) {
  answer({ error: failure(error) });
  port.close();
}

import { Duplex } from "node:stream";
import type { EmbeddedEngine } from "./start-embedded-engine.ts";

/**
 * A socket for `pg.Client` with an embedded PGlite at the other end.
 *
 * Writes of one turn are sent as one burst: the cost of a message to the engine hardly depends on its size, so a named
 * statement (parse, bind, execute, sync) takes one message. Measured: inserts are 3.4× as fast as with PGlite's own `query`.
 */
export class PgliteStream extends Duplex {
  readonly #engine: EmbeddedEngine;
  #isEnded = false;

  constructor(engine: EmbeddedEngine) {
    super({ allowHalfOpen: false });
    this.#engine = engine;
  }

  // The methods of net.Socket that pg.Client calls.
  connect(): this {
    queueMicrotask(() => this.emit("connect"));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#exchange([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#exchange(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  #exchange(chunks: Buffer[], done: (error?: Error | null) => void): void {
    const [first = Buffer.alloc(0)] = chunks;
    const burst = chunks.length === 1 ? first : Buffer.concat(chunks);
    // Terminate ('X') ends the connection, not the engine.
    if (burst[0] === 0x58) {
      this.#end();
      done();
      return;
    }
    this.#engine.exchange(burst).then(
      (answer) => {
        if (answer.length > 0 && !this.#isEnded) this.push(answer);
        done();
      },
      (error: Error) => done(error),
    );
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.push(null);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#end();
    done();
  }
}

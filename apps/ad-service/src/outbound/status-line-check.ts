const VERSION = Buffer.from("HTTP/1.");
const HEAD_END = Buffer.from("\r\n\r\n");
/** `HTTP/1.1 1…`: the index of the status class. */
const STATUS_AT = 9;
const CR = 13;
const LF = 10;
const ONE = 49;

/**
 * Checks that the answers on a connection begin with a status line of HTTP/1.x. undici's parser also accepts HTTP/2.0,
 * HTTP/0.9, RTSP and ICE, and does not report which. Interim answers are skipped, so that the next line is checked, too.
 */
export class StatusLineCheck {
  /** Matches the status line, the end of an interim answer's head, or nothing once all lines were read. */
  #state: "line" | "interim-head" | "passed" = "passed";
  #matched = 0;
  /** A byte has arrived since `begin`. */
  hasBegun = false;

  /** Call before a request is sent: the next bytes are its answer. */
  begin(): void {
    this.#state = "line";
    this.#matched = 0;
    this.hasBegun = false;
  }

  /** Checks the next bytes, however they are split. False: a status line belongs to another protocol. */
  accepts(chunk: Uint8Array): boolean {
    this.hasBegun ||= chunk.length > 0;
    for (const byte of chunk) {
      if (this.#state === "passed") return true;
      if (this.#state === "interim-head") this.#readHead(byte);
      else if (!this.#readLine(byte)) return false;
    }
    return true;
  }

  #readLine(byte: number): boolean {
    // The parser also allows empty lines before an answer.
    if (this.#matched === 0 && (byte === CR || byte === LF)) return true;
    if (this.#matched < VERSION.length && byte !== VERSION[this.#matched]) return false;
    if (this.#matched === STATUS_AT) {
      this.#state = byte === ONE ? "interim-head" : "passed";
      this.#matched = 0;
    } else this.#matched += 1;
    return true;
  }

  #readHead(byte: number): void {
    this.#matched = byte === HEAD_END[this.#matched] ? this.#matched + 1 : byte === CR ? 1 : 0;
    if (this.#matched < HEAD_END.length) return;
    this.#state = "line";
    this.#matched = 0;
  }
}

const VERSION = Buffer.from("HTTP/1.");
const HEAD_END = Buffer.from("\r\n\r\n");
/** `HTTP/1.1 1…`: where the class of the status stands. */
const STATUS_AT = 9;
const CR = 13;
const LF = 10;
const ONE = 49;

/**
 * Whether the answers on a connection begin with a status line of HTTP/1.x. undici's parser also takes HTTP/2.0, HTTP/0.9,
 * RTSP and ICE, and does not say what it took. Interim answers are passed over, so that the line after them is read, too.
 */
export class StatusLineCheck {
  /** Of the status line; of the end of an interim answer's head; or neither, when all lines were read. */
  #state: "line" | "interim-head" | "passed" = "passed";
  #matched = 0;
  /** Any byte came since `begin`. */
  hasBegun = false;

  /** A request is about to be sent: what comes next is its answer. */
  begin(): void {
    this.#state = "line";
    this.#matched = 0;
    this.hasBegun = false;
  }

  /** Takes the next bytes, however they are cut. False: a status line is another protocol's. */
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
    // Empty lines before an answer are allowed by the parser, too.
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

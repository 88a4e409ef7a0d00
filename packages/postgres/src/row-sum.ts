import { hash } from "node:crypto";

/** How many rows a table has, and a sum over them that does not depend on their order. */
interface RowSum {
  readonly rows: number;
  /** 32 hex digits. */
  readonly checksum: string;
}

const NEW_LINE = 10;

/**
 * Adds up rows in the text format of COPY: one line each. The checksum is the sum of the first 128 bits of each line's
 * SHA-256, so two stores that return rows in different orders have the same one.
 */
export class RowSums {
  #rows = 0;
  #low = 0n;
  #high = 0n;
  #rest: Buffer[] = [];

  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
      const line = chunk.subarray(start, end);
      this.#addLine(this.#rest.length === 0 ? line : Buffer.concat([...this.#rest, line]));
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
  }

  #addLine(line: Buffer): void {
    const digest = hash("sha256", line, "buffer");
    this.#low = BigInt.asUintN(64, this.#low + digest.readBigUInt64BE(0));
    this.#high = BigInt.asUintN(64, this.#high + digest.readBigUInt64BE(8));
    this.#rows += 1;
  }

  result(): RowSum {
    const hex = (half: bigint) => half.toString(16).padStart(16, "0");
    return { rows: this.#rows, checksum: `${hex(this.#low)}${hex(this.#high)}` };
  }
}

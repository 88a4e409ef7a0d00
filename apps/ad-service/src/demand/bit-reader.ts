/** The text breaks its format. */
export class UnreadableBits extends Error {}

const BITS = 6;
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const values = new Map([...letters].map((letter, value) => [letter, value]));

/** Reads a text in the URL-safe Base64 of consent strings, six bits a letter, from its start. Throws `UnreadableBits` behind its end. */
export class BitReader {
  readonly #values: Uint8Array;
  #at = 0;

  constructor(text: string) {
    this.#values = Uint8Array.from(text, (letter) => {
      const value = values.get(letter);
      if (value === undefined) throw new UnreadableBits();
      return value;
    });
  }

  flag(): boolean {
    const flag = this.flagAt(this.#at);
    this.#at += 1;
    return flag;
  }

  /** Unsigned, the highest bit first. */
  number(bits: number): number {
    let number = 0;
    for (let left = bits; left > 0; left -= 1) number = number * 2 + (this.flag() ? 1 : 0);
    return number;
  }

  /** Passes over bits, which must be there, and returns the place of the first of them. */
  skip(bits: number): number {
    const start = this.#at;
    if (start + bits > this.#values.length * BITS) throw new UnreadableBits();
    this.#at += bits;
    return start;
  }

  /** The bit at a place, wherever the reader is. */
  flagAt(place: number): boolean {
    const value = this.#values[Math.floor(place / BITS)];
    if (value === undefined) throw new UnreadableBits();
    return ((value >> (BITS - 1 - (place % BITS))) & 1) === 1;
  }
}

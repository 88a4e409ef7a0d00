/**
 * A cache of at most `maxEntries`, which always keeps the half of them that was used last. A used entry moves to the younger of
 * two generations, and the older one is dropped as a whole: an LRU list takes three times as long for a new key, and each click
 * brings some.
 */
export class BoundedCache<Key, Value extends NonNullable<unknown>> {
  readonly #maxOfGeneration: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(maxEntries: number) {
    this.#maxOfGeneration = Math.floor(maxEntries / 2);
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#maxOfGeneration && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  *values(): Generator<Value> {
    yield* this.#young.values();
    for (const [key, value] of this.#old) if (!this.#young.has(key)) yield value;
  }
}

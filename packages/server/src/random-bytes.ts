import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;

let pool = Buffer.alloc(0);

/**
 * Random bytes for an id, from the system's generator. They are drawn in large batches, since a call costs 4 µs for any
 * number.
 */
export function randomBytes(length: number): Buffer {
  if (pool.byteLength < length) pool = randomFillSync(Buffer.alloc(Math.max(POOL_BYTES, length)));
  const bytes = pool.subarray(0, length);
  pool = pool.subarray(length);
  return bytes;
}

import { createHash } from "node:crypto";

/**
 * The Merkle tree of RFC 6962, section 2.1, over SHA-256. Hashes are 32 bytes. Indexes and sizes are exact up to 2^53.
 *
 * A proof is a list of ranges of leaves, whose hashes are read afterwards: so a rule of the tree never waits for its storage.
 */

/** Leaves from `from` to before `to`. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

export function leafHash(entry: Uint8Array): Buffer {
  return createHash("sha256").update(Buffer.of(0)).update(entry).digest();
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash("sha256").update(Buffer.of(1)).update(left).update(right).digest();
}

/** Of the tree without leaves. */
const emptyRoot = createHash("sha256").digest();

/** The largest power of two below `size`, where the right subtree begins. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The hash of a complete subtree of 2^n leaves, from the hashes of its 2^n children. */
export function subtreeHash(children: readonly Uint8Array[]): Uint8Array {
  let row = children;
  while (row.length > 1) {
    const parents: Uint8Array[] = [];
    for (let left = 0; left < row.length; left += 2) {
      parents.push(nodeHash(childAt(row, left), childAt(row, left + 1)));
    }
    row = parents;
  }
  return childAt(row, 0);
}

function childAt(children: readonly Uint8Array[], index: number): Uint8Array {
  const child = children[index];
  if (child === undefined) throw new Error("a subtree lacks a child");
  return child;
}

/** The complete subtrees that a range consists of, from left to right: each begins at a multiple of its size. */
export function completeSubtrees({ from, to }: LeafRange): LeafRange[] {
  const found: LeafRange[] = [];
  for (let start = from; start < to; ) {
    let size = 1;
    while (start % (size * 2) === 0 && start + size * 2 <= to) size *= 2;
    found.push({ from: start, to: start + size });
    start += size;
  }
  return found;
}

/**
 * The hash of a range that is a node of a tree: MTH of its leaves. `hashOf` is called with complete subtrees alone, those of
 * `completeSubtrees`.
 */
export function rangeHash({ from, to }: LeafRange, hashOf: (subtree: LeafRange) => Uint8Array): Uint8Array {
  if (from === to) return emptyRoot;
  const hashes = completeSubtrees({ from, to }).map(hashOf);
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** PATH(index, D[size]) of RFC 6962, section 2.1.1: from the sibling of the leaf up to the child of the root. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  if (!(index >= 0 && index < size)) throw new Error(`a tree of ${size} entries has none at ${index}`);
  const path: LeafRange[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      path.push({ from: middle, to });
      to = middle;
    } else {
      path.push({ from, to: middle });
      from = middle;
    }
  }
  return path.reverse();
}

/** PROOF(older, D[size]) of RFC 6962, section 2.1.2. Empty where the trees are the same or the older one has no leaves. */
export function consistencyRanges(older: number, size: number): LeafRange[] {
  if (!(older >= 0 && older <= size)) throw new Error(`a tree of ${size} entries has no older one of ${older}`);
  if (older === 0 || older === size) return [];
  const proof: LeafRange[] = [];
  let [from, to] = [0, size];
  while (to !== older) {
    const middle = from + splitOf(to - from);
    if (older <= middle) {
      proof.push({ from: middle, to });
      to = middle;
    } else {
      proof.push({ from, to: middle });
      from = middle;
    }
  }
  // The verifier has the root of the older tree already, so a proof does not repeat it (RFC 6962, section 2.1.2).
  if (from > 0) proof.push({ from, to });
  return proof.reverse();
}

/**
 * What a proof of many entries at once needs between two of them: the largest subtrees of a tree of `size` leaves that a gap
 * consists of, from left to right. The last one of a tree may be incomplete.
 */
export function subtreesBetween({ from, to }: LeafRange, size: number): LeafRange[] {
  if (from === to || to !== size) return completeSubtrees({ from, to });
  // The nodes at the right edge end with the tree: the first of them in the gap is one subtree.
  let edge = 0;
  while (edge < from) edge += splitOf(size - edge);
  return [...completeSubtrees({ from, to: edge }), { from: edge, to }];
}

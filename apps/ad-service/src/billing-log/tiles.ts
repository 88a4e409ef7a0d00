import { type LeafRange, leafHash, subtreeHash } from "./merkle-tree.ts";

/**
 * The files of a tree by C2SP tlog-tiles: tiles of 256 hashes, each of which stands for a full tile of the level below, and
 * bundles of the entries themselves.
 */

export const HASH_BYTES = 32;
export const TILE_WIDTH = 256;
const HEIGHT = 8;
const MAX_ENTRY_BYTES = 65_535;

/** A tile of a level, or a bundle of entries. `width`: of its hashes or entries, 256 if it is full. */
export interface TileName {
  readonly level: number | "entries";
  readonly index: number;
  readonly width: number;
}

/** As `tile/0/x001/234.p/5`, below the address of the log. */
export function tilePath({ level, index, width }: TileName): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g) ?? [];
  const path = groups.map((group, place) => (place === groups.length - 1 ? group : `x${group}`)).join("/");
  return `tile/${level}/${path}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

const tileForm =
  /^tile\/(?<level>entries|0|[1-9]|[1-5][0-9]|6[0-3])\/(?<path>(?:x\d{3}\/){0,4}\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Undefined for any other spelling than that of `tilePath`. */
export function readTilePath(path: string): TileName | undefined {
  const { level, path: digits, width } = tileForm.exec(path)?.groups ?? {};
  if (level === undefined || digits === undefined) return undefined;
  const name: TileName = {
    level: level === "entries" ? level : Number(level),
    index: Number(digits.replaceAll(/\D/g, "")),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  return tilePath(name) === path ? name : undefined;
}

/** How many hashes the tiles of a level have in a tree of this size. */
export function hashesAt(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** The tiles of a tree that the tree of the size `since` does not have, with one of a level that has become wider. */
export function tilesSince(since: number, size: number): TileName[] {
  const found: TileName[] = [];
  for (let level = 0; hashesAt(level, size) > 0; level++) found.push(...tilesOfLevel(level, since, size));
  return found;
}

function tilesOfLevel(level: number, since: number, size: number): TileName[] {
  const hashes = hashesAt(level, size);
  const found: TileName[] = [];
  const before = hashesAt(level, since);
  if (hashes === before) return found;
  for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < hashes; index++) {
    const width = Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH);
    found.push({ level, index, width });
    if (level === 0) found.push({ level: "entries", index, width });
  }
  return found;
}

/** Whether a tree of this size has the tile, full or partial; of a partial one also the widths that it had before. */
export function hasTile({ level, index, width }: TileName, size: number): boolean {
  return index * TILE_WIDTH + width <= hashesAt(level === "entries" ? 0 : level, size);
}

/** A bundle: each entry behind its length, two bytes, the higher one first. */
export function bundleOf(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.byteLength > MAX_ENTRY_BYTES) throw new Error(`an entry has ${entry.byteLength} bytes`);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(entry.byteLength);
      return [length, entry];
    }),
  );
}

/** The hashes of a tile in one buffer, as it is stored and served. */
export interface StoredTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
}

/**
 * Appends entries to a tree of `size` entries. `last`: the last tile of each level that has hashes in it and is not full.
 * Returns the tiles that are changed or new.
 */
export function appendToTiles(
  { size, last }: { size: number; last: readonly StoredTile[] },
  entries: readonly Uint8Array[],
): StoredTile[] {
  const changed: StoredTile[] = [];
  let added: Buffer[] = entries.map(leafHash);
  for (let level = 0; added.length > 0; level++) {
    const before = hashesAt(level, size);
    const rest = last.find((tile) => tile.level === level && tile.index === Math.floor(before / TILE_WIDTH));
    const known = before % TILE_WIDTH === 0 ? [] : [widthOf(rest, before % TILE_WIDTH)];
    const row = Buffer.concat([...known, ...added]);
    const first = Math.floor(before / TILE_WIDTH);
    const full: Buffer[] = [];
    for (let offset = 0; offset * HASH_BYTES < row.byteLength; offset += TILE_WIDTH) {
      const hashes = row.subarray(offset * HASH_BYTES, (offset + TILE_WIDTH) * HASH_BYTES);
      changed.push({ level, index: first + offset / TILE_WIDTH, hashes });
      if (hashes.byteLength === TILE_WIDTH * HASH_BYTES) full.push(Buffer.from(subtreeHash(hashesIn(hashes))));
    }
    added = full;
  }
  return changed;
}

function widthOf(tile: StoredTile | undefined, width: number): Buffer {
  const hashes = tile?.hashes.subarray(0, width * HASH_BYTES);
  if (hashes?.byteLength !== width * HASH_BYTES) throw new Error("the log's last tile of a level is missing");
  return hashes;
}

function hashesIn(hashes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < hashes.byteLength; at += HASH_BYTES) found.push(hashes.subarray(at, at + HASH_BYTES));
  return found;
}

/** Where the hash of a complete subtree comes from: its children in one tile. */
export function placeOf({ from, to }: LeafRange): { level: number; index: number; offset: number; count: number } {
  const height = Math.round(Math.log2(to - from));
  const level = Math.floor(height / HEIGHT);
  const count = 2 ** (height - level * HEIGHT);
  const first = from / TILE_WIDTH ** level;
  const index = Math.floor(first / TILE_WIDTH);
  return { level, index, offset: first - index * TILE_WIDTH, count };
}

/** The hash of a complete subtree, from the tile of `placeOf`. */
export function hashInTile(hashes: Buffer, { offset, count }: { offset: number; count: number }): Uint8Array {
  const part = hashes.subarray(offset * HASH_BYTES, (offset + count) * HASH_BYTES);
  if (part.byteLength !== count * HASH_BYTES) throw new Error("a tile has too few hashes");
  return subtreeHash(hashesIn(part));
}

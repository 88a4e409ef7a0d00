/** For the tests: those who verify need only `verify.mjs`. */
interface Key {
  name: string;
  id: string;
}

interface Found {
  holds: boolean;
  sentence: string;
}

interface Head {
  origin: string;
  size: number;
  root: Buffer;
}

type ReadLogFile = (path: string) => Promise<Buffer>;

export class Repeats {
  constructor(limit?: number);
  add(key: string, place: number): Promise<void>;
  places(): AsyncGenerator<number>;
}
export const emptyRoot: Buffer;
export function leafHash(entry: Uint8Array): Buffer;
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer;
export function rootOfLeaves(leaves: readonly Uint8Array[]): Buffer;
export function verifyInclusion(of: {
  index: number;
  size: number;
  leaf: Buffer;
  path: readonly Uint8Array[];
  root: Uint8Array;
}): boolean;
export function verifyConsistency(of: {
  older: number;
  newer: number;
  olderRoot: Buffer;
  newerRoot: Buffer;
  proof: readonly Buffer[];
}): boolean;
export function rootOfSome(of: {
  size: number;
  leaves: readonly { index: number; hash: Uint8Array }[];
  hashes: readonly Uint8Array[];
}): Buffer;
export function parseVerifierKey(text: string): Key;
export function openNote(note: string | Uint8Array, keys: readonly Key[]): string;
export function parseCheckpoint(text: string): Head;
export function parseProof(text: string): { extra?: Buffer; index: number; path: Buffer[]; checkpoint: string };
export function tilePath(level: number | "entries", index: number, width?: number): string;
export function parseBundle(bytes: Buffer): Buffer[];
export function consistencyProof(read: ReadLogFile, older: number, newer: number): Promise<Buffer[]>;
export function compareCheckpoints(older: string, newer: string, of: { key: Key; log: string }): Promise<Found[]>;

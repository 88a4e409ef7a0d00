import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as verify from "../../../../clients/billing-log/verify.mjs";
import {
  completeSubtrees,
  consistencyRanges,
  inclusionRanges,
  type LeafRange,
  rangeHash,
  subtreesBetween,
} from "./merkle-tree.ts";
import { checkpointText, noteKeyOf, proofText, signNote, verifierKey } from "./signed-note.ts";
import {
  appendToTiles,
  bundleOf,
  hashesAt,
  hashInTile,
  placeOf,
  readTilePath,
  type StoredTile,
  TILE_WIDTH,
  tilePath,
  tilesSince,
} from "./tiles.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytes = (text: string) => Buffer.from(text, "hex");

/** The tiles of a tree, as the server stores them; in parts, as they are appended. */
function treeOf(entries: readonly Uint8Array[], parts: readonly number[] = []): Map<string, StoredTile> {
  const tiles = new Map<string, StoredTile>();
  let size = 0;
  for (const end of [...parts.filter((part) => part < entries.length).sort((a, b) => a - b), entries.length]) {
    const last = [...tiles.values()].filter(
      ({ level, index }) => index === Math.floor(hashesAt(level, size) / TILE_WIDTH),
    );
    for (const tile of appendToTiles({ size, last }, entries.slice(size, end)))
      tiles.set(`${tile.level}/${tile.index}`, tile);
    size = Math.max(size, end);
  }
  return tiles;
}

function hashesOf(tiles: ReadonlyMap<string, StoredTile>, ranges: readonly LeafRange[]): Buffer[] {
  const hashOf = (subtree: LeafRange) => {
    const place = placeOf(subtree);
    return hashInTile(tiles.get(`${place.level}/${place.index}`)?.hashes ?? Buffer.alloc(0), place);
  };
  return ranges.map((range) => Buffer.from(rangeHash(range, hashOf)));
}

const rootOf = (tiles: ReadonlyMap<string, StoredTile>, size: number) =>
  hashesOf(tiles, [{ from: 0, to: size }])[0] ?? verify.emptyRoot;

describe("the reference tree of Certificate Transparency (RFC 6962)", () => {
  const leaves = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
  ].map(bytes);
  const roots = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ];
  const tiles = treeOf(leaves);

  test("each tree has its root, by the server and by verify.mjs", () => {
    for (const [size, root] of roots.entries()) {
      expect(hex(rootOf(tiles, size))).toBe(root);
      expect(hex(verify.rootOfLeaves(leaves.slice(0, size).map(verify.leafHash)))).toBe(root);
    }
  });

  test.each([
    [0, 1, []],
    [
      0,
      8,
      [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ],
    ],
    [
      5,
      8,
      [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ],
    ],
    [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
    [
      1,
      5,
      [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ],
    ],
  ])("the path of leaf %i in a tree of %i", (index, size, expected) => {
    const path = hashesOf(tiles, inclusionRanges(index, size));
    expect(path.map(hex)).toEqual(expected);
    const of = { index, size, leaf: verify.leafHash(leaves[index] ?? Buffer.of()), root: bytes(roots[size] ?? "") };
    expect(verify.verifyInclusion({ ...of, path })).toBe(true);
  });

  test.each([
    [1, 1, []],
    [
      1,
      8,
      [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ],
    ],
    [
      6,
      8,
      [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ],
    ],
    [
      2,
      5,
      [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ],
    ],
  ])("the proof that a tree of %i is the beginning of a tree of %i", (older, newer, expected) => {
    const proof = hashesOf(tiles, consistencyRanges(older, newer));
    expect(proof.map(hex)).toEqual(expected);
    const heads = { older, newer, olderRoot: bytes(roots[older] ?? ""), newerRoot: bytes(roots[newer] ?? "") };
    expect(verify.verifyConsistency({ ...heads, proof })).toBe(true);
  });
});

describe("trees of any size", () => {
  const entry = (index: number) => Buffer.from(`entry ${index}`);
  const size = fc.integer({ min: 1, max: 900 });

  test("tiles that were appended in parts are those of the whole, and each proof of the server holds by verify.mjs", {
    tags: "long",
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.array(fc.nat(900), { maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        async (newer, parts, some, old) => {
          const entries = Array.from({ length: newer }, (_, index) => entry(index));
          const tiles = treeOf(entries, parts);
          const newerRoot = verify.rootOfLeaves(entries.map(verify.leafHash));
          expect(hex(rootOf(tiles, newer))).toBe(hex(newerRoot));

          const index = some % newer;
          const path = hashesOf(tiles, inclusionRanges(index, newer));
          const of = { index, size: newer, path, root: newerRoot };
          expect(verify.verifyInclusion({ ...of, leaf: verify.leafHash(entry(index)) })).toBe(true);
          expect(verify.verifyInclusion({ ...of, leaf: verify.leafHash(entry(newer)) })).toBe(false);

          const older = old % (newer + 1);
          const proof = hashesOf(tiles, consistencyRanges(older, newer));
          const heads = { older, newer, olderRoot: rootOf(tiles, older), newerRoot, proof };
          expect(verify.verifyConsistency(heads)).toBe(true);
          const forked = verify.rootOfLeaves([...entries.slice(0, -1), entry(newer)].map(verify.leafHash));
          expect(verify.verifyConsistency({ ...heads, newerRoot: forked })).toBe(older === 0);
          const read = async (path: string) => servedTile(tiles, newer, path);
          expect((await verify.consistencyProof(read, older, newer)).map(hex)).toEqual(proof.map(hex));
        },
      ),
    );
  });

  test("a proof of some entries needs the hashes beside them alone, and no other entries fit", () => {
    fc.assert(
      fc.property(size, fc.uniqueArray(fc.nat(899), { maxLength: 40 }), (newer, places) => {
        const indexes = places.filter((index) => index < newer).sort((a, b) => a - b);
        const entries = Array.from({ length: newer }, (_, index) => entry(index));
        const tiles = treeOf(entries);
        const ends = [...indexes, newer];
        const between = ends.flatMap((to, place) =>
          subtreesBetween({ from: place === 0 ? 0 : (indexes[place - 1] ?? 0) + 1, to }, newer),
        );
        expect(between).toEqual(largestWithout(indexes, { from: 0, to: newer }));
        const hashes = hashesOf(tiles, between);
        const leaves = indexes.map((index) => ({ index, hash: verify.leafHash(entry(index)) }));
        const root = hex(rootOf(tiles, newer));
        expect(hex(verify.rootOfSome({ size: newer, leaves, hashes }))).toBe(root);
        const [first, ...others] = leaves;
        if (first === undefined) return;
        const changed = [{ ...first, hash: verify.leafHash(entry(newer)) }, ...others];
        expect(hex(verify.rootOfSome({ size: newer, leaves: changed, hashes }))).not.toBe(root);
        expect(rootWithout(() => hex(verify.rootOfSome({ size: newer, leaves: others, hashes })))).not.toBe(root);
      }),
    );
  });

  test("a range is cut into complete subtrees", () => {
    expect(completeSubtrees({ from: 0, to: 7 })).toEqual([
      { from: 0, to: 4 },
      { from: 4, to: 6 },
      { from: 6, to: 7 },
    ]);
  });
});

/** By the definition of the tree: the largest nodes that contain none of the leaves. */
function largestWithout(indexes: readonly number[], { from, to }: LeafRange): LeafRange[] {
  const inside = indexes.filter((index) => index >= from && index < to);
  if (inside.length === 0) return [{ from, to }];
  if (to - from === 1) return [];
  let split = 1;
  while (split * 2 < to - from) split *= 2;
  return [
    { from, to: from + split },
    { from: from + split, to },
  ].flatMap((half) => largestWithout(inside, half));
}

/** Undefined where the proof does not even have the form of one. */
function rootWithout(compute: () => string): string | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

/** As the server serves it. */
function servedTile(tiles: ReadonlyMap<string, StoredTile>, size: number, path: string): Buffer {
  const name = readTilePath(path);
  if (name === undefined || name.level === "entries") throw new Error(`no tile is ${path}`);
  expect(name.index * TILE_WIDTH + name.width).toBeLessThanOrEqual(hashesAt(name.level, size));
  return tiles.get(`${name.level}/${name.index}`)?.hashes.subarray(0, name.width * 32) ?? Buffer.alloc(0);
}

describe("tlog-tiles", () => {
  test("paths of tiles, as in the specification", () => {
    expect(tilePath({ level: 3, index: 1_234_067, width: 256 })).toBe("tile/3/x001/x234/067");
    expect(tilePath({ level: "entries", index: 273, width: 112 })).toBe("tile/entries/273.p/112");
    expect(verify.tilePath("entries", 1_234_067, 8)).toBe("tile/entries/x001/x234/067.p/8");
    expect(readTilePath("tile/0/x001/x234/067.p/8")).toEqual({ level: 0, index: 1_234_067, width: 8 });
  });

  test.each([
    "tile/0/1",
    "tile/0/0001",
    "tile/00/001",
    "tile/64/001",
    "tile/-1/001",
    "tile/0/x000/001",
    "tile/0/001/001",
    "tile/0/001.p/0",
    "tile/0/001.p/08",
    "tile/0/001.p/256",
    "tile/0/001/",
    "tile/entries/../001",
  ])("%s is the path of none", (path) => expect(readTilePath(path)).toBeUndefined());

  test("a tree of 70,000 entries has the tiles that the specification lists", () => {
    const tiles = tilesSince(0, 70_000).filter(({ level }) => level !== "entries");
    const ofLevel = (level: number) => tiles.filter((tile) => tile.level === level);
    expect(ofLevel(0)).toHaveLength(274);
    expect(ofLevel(0).at(-1)).toEqual({ level: 0, index: 273, width: 112 });
    expect(ofLevel(1)).toEqual([
      { level: 1, index: 0, width: 256 },
      { level: 1, index: 1, width: 17 },
    ]);
    expect(ofLevel(2)).toEqual([{ level: 2, index: 0, width: 1 }]);
    expect(tilesSince(0, 256).filter(({ level }) => level !== "entries")).toEqual([
      { level: 0, index: 0, width: 256 },
      { level: 1, index: 0, width: 1 },
    ]);
  });

  test("a bundle is the entries behind their lengths", () => {
    expect(hex(bundleOf([bytes("aa"), bytes(""), bytes("bbcc")]))).toBe("0001aa00000002bbcc");
    expect(verify.parseBundle(bytes("0001aa00000002bbcc")).map(hex)).toEqual(["aa", "", "bbcc"]);
    expect(() => verify.parseBundle(bytes("0003aabb"))).toThrow("cut off");
  });
});

describe("signed-note, by the vectors of golang.org/x/mod/sumdb/note", () => {
  const key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
  const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
  const signature =
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
  const enoch =
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";
  // The seed behind the type of the key, as PKCS #8.
  const seed = Buffer.from("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz", "base64").subarray(1);
  const secret = Buffer.concat([bytes("302e020100300506032b657004220420"), seed]).toString("base64");
  const known = [verify.parseVerifierKey(key)];

  test("the key has its hash, and signs the note to the letter", () => {
    const peter = noteKeyOf("PeterNeumann", secret);
    expect(verifierKey(peter)).toBe(key);
    expect(signNote(text, peter)).toBe(`${text}\n${signature}`);
    expect(() => signNote("no end", peter)).toThrow("line feed");
  });

  test("the note opens, also beside signatures of unknown keys, and one that is repeated", () => {
    expect(verify.openNote(`${text}\n${signature}`, known)).toBe(text);
    expect(verify.openNote(`${text}\n${enoch}${signature}${signature}`, known)).toBe(text);
  });

  test("no other text is a key", { tags: "long" }, () => {
    for (let from = 0; from <= key.length; from++)
      for (let to = from + 1; to <= key.length; to++)
        if (to - from < key.length) expect(() => verify.parseVerifierKey(key.slice(from, to))).toThrow();
    for (let at = 0; at < key.length; at++) {
      const changed = String.fromCharCode(key.charCodeAt(at) + 1);
      expect(() => verify.parseVerifierKey(key.slice(0, at) + changed + key.slice(at + 1))).toThrow();
    }
    for (const wrong of [
      "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
      "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ])
      expect(() => verify.parseVerifierKey(wrong)).toThrow();
  });

  test.each([
    ["only text", text],
    ["no signature", `${text}\n`],
    ["a signature without its end", `${text}\n${signature.slice(0, -1)}`],
    ["a control character", `\u0001${text}\n${signature}`],
    ["a name with a blank", `${text}\n— Bad Name ${signature.split(" ")[2]}`],
    ["another line", `${text}\n${signature}Unexpected line.\n`],
    ["a changed text", `${text.replace("answer", "Answer")}\n${signature}`],
    ["a changed signature", `${text}\n${signature.replace("x08go/ZJ", "x08go/ZK")}`],
    ["another key alone", `${text}\n${enoch}`],
  ])("it does not open with %s", (_, note) => expect(() => verify.openNote(note, known)).toThrow());

  test("it does not open with bytes that are no UTF-8", () => {
    const note = Buffer.concat([Buffer.of(0xff), Buffer.from(`${text}\n${signature}`)]);
    expect(() => verify.openNote(note, known)).toThrow("UTF-8");
  });
});

test("what is added twice is found, in memory and beyond it", async () => {
  for (const limit of [10_000, 100]) {
    const repeats = new verify.Repeats(limit);
    for (let place = 0; place < 5000; place++) await repeats.add(place % 1000 === 999 ? "again" : String(place), place);
    const found: number[] = [];
    for await (const place of repeats.places()) found.push(place);
    expect(found.sort((a, b) => a - b)).toEqual([1999, 2999, 3999, 4999]);
  }
});

describe("tlog-checkpoint and tlog-proof", () => {
  test("a checkpoint as the specification shows it", () => {
    const text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    const head = verify.parseCheckpoint(text);
    expect(head).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20_852_163 });
    expect(checkpointText(head)).toBe(text);
    expect(verify.parseCheckpoint(`${text}opaque line\n`)).toEqual(head);
  });

  test.each([
    "\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "origin\n01\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "origin\n-1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "origin\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
    "origin\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I\n",
    "origin\n1\nAAAA\n",
    "origin\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n",
  ])("%j is none", (text) => expect(() => verify.parseCheckpoint(text)).toThrow("malformed"));

  test("a proof is read as it is written, and other text is none", () => {
    const entry = Buffer.from("entry 0");
    const path = [createHash("sha256").digest()];
    const proof = proofText({ entry, index: 0, path, checkpoint: "origin\n2\nroot\n\n— a b\n" });
    expect(verify.parseProof(proof)).toEqual({
      extra: entry,
      index: 0,
      path,
      checkpoint: "origin\n2\nroot\n\n— a b\n",
    });
    for (const wrong of [
      proof.replace("@v1", "@v2"),
      proof.replace("index 0", "index 00"),
      proof.replace("index 0\n", ""),
      proof.replace("extra ZW", "extra Z"),
      proof.replace(/=\n\n/, "\n\n"),
    ])
      expect(() => verify.parseProof(wrong)).toThrow();
  });
});

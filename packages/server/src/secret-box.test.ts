import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { secretBox } from "./secret-box.ts";

const box = secretBox(Buffer.alloc(32, 7));

test("a secret opens for the owner it was sealed for", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (secret, owner) => {
      expect(box.open(box.seal(secret, owner), owner)).toBe(Buffer.from(secret).toString());
    }),
  );
});

test("a sealed secret with any single bit changed does not open", () => {
  const sealed = box.seal("ad_secret", "7000000001");
  for (let bit = 0; bit < sealed.byteLength * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => box.open(changed, "7000000001")).toThrow();
  }
  expect(() => box.open(sealed.subarray(0, 20), "7000000001")).toThrow();
});

test("a sealed secret does not open with another key or for another owner", () => {
  const sealed = box.seal("ad_secret", "7000000001");
  expect(() => secretBox(randomBytes(32)).open(sealed, "7000000001")).toThrow("ENCRYPTION_KEY");
  expect(() => box.open(sealed, "7000000002")).toThrow("ENCRYPTION_KEY");
});

test("sealing equal secrets gives different bytes", () => {
  expect(box.seal("ad_secret", "1").equals(box.seal("ad_secret", "1"))).toBe(false);
});

test("a key that is not 32 bytes is refused", () => {
  expect(() => secretBox(Buffer.alloc(16))).toThrow("32");
});

import { expect, test } from "vitest";
import { hashAddress, openAddressKeys } from "./hash-address.ts";

const key = new Uint8Array(32).fill(7);
const networks = { client: "192.0.2.1", wider: "192.0.2" };
const day = (text: string) => new Date(`2026-03-${text}Z`);
const hashesAt = (text: string, keys = openAddressKeys(key)) => hashAddress(keys, networks, day(text));

test("today's hash is tomorrow's hash of the day before, and equal nowhere else", () => {
  const keys = openAddressKeys(key);
  const first = hashesAt("01T23:59:59.999", keys);
  const second = hashesAt("02T00:00:00.000", keys);
  expect(second.yesterday).toBe(first.today);
  expect(new Set(Object.values({ ...first, a: second.today, b: second.network })).size).toBe(5);
  for (const hash of Object.values(first)) expect(hash).toMatch(/^[0-9a-f]{32}$/);
});

test("nodes agree, also on a day that one of them saw before and its clock stepped back to", () => {
  const keys = openAddressKeys(key);
  hashesAt("02T00:00:00.000", keys);
  expect(hashesAt("01T12:00:00.000", keys)).toEqual(hashesAt("01T18:00:00.000"));
});

test("another key, another address and another network have other hashes", () => {
  const ours = hashesAt("01T12:00:00.000");
  const otherKey = hashesAt("01T12:00:00.000", openAddressKeys(new Uint8Array(32).fill(8)));
  const other = hashAddress(openAddressKeys(key), { client: "192.0.2.2", wider: "192.0.3" }, day("01T12:00:00.000"));
  expect(new Set([ours, otherKey, other].flatMap((hashes) => Object.values(hashes))).size).toBe(9);
});

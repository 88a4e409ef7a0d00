import { expect, test } from "vitest";
import { z } from "zod";
import { parseAddress, searchOf, writeAddress } from "../src/operator/address-search.ts";

const schema = z.object({
  status: z.enum(["active", "paused"]),
  page: z.coerce.number().int().min(1),
  advertiser: z.string(),
});

test("an address is read back as it was written, also an id of digits and an advertiser with signs", () => {
  const search = { advertiser: "Shop & Söhne = 1?", bot: "7000000001", page: "2" };
  expect(parseAddress(writeAddress(search))).toEqual(search);
  expect(writeAddress({ advertiser: "", status: undefined })).toBe("");
});

test("what an address may not say is left out, field by field, and the rest of it holds", () => {
  const read = searchOf(schema);
  expect(read({ status: "gone", page: "3", advertiser: "Shop", other: "1" })).toEqual({ page: 3, advertiser: "Shop" });
  expect(read({ page: "0" })).toEqual({});
  expect(read({ advertiser: undefined, page: "3" })).toEqual({ page: 3 });
});

test("an address of an older version is upgraded; one of this version is not", () => {
  const read = searchOf(schema, [({ state, ...rest }) => ({ ...rest, ...(state && { status: state }) })]);
  expect(read({ state: "paused", page: "2" })).toEqual({ status: "paused", page: 2, v: 2 });
  expect(read({ v: "1", state: "paused" })).toEqual({ status: "paused", v: 2 });
  expect(read({ v: "2", state: "paused" })).toEqual({ v: 2 });
  expect(read({ v: "nonsense", state: "paused" })).toEqual({ status: "paused", v: 2 });
});

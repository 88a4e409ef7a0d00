import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { limitSignIns } from "./sign-in.ts";

const isAllowed = (waitSeconds: number) => waitSeconds === 0;

test("sign-ins per minute are limited for each address and for each user, counted separately", () => {
  const limiter = limitSignIns({ perAddress: 3, perUser: 2 });
  expect([0, 1, 2, 3].map(() => isAllowed(limiter.takeAddress("192.0.2.1", 0)))).toEqual([true, true, true, false]);
  expect(isAllowed(limiter.takeAddress("192.0.2.2", 0))).toBe(true);
  expect([0, 1, 2].map(() => isAllowed(limiter.takeUser("42", 59_999)))).toEqual([true, true, false]);
  expect(isAllowed(limiter.takeUser("43", 59_999))).toBe(true);
  expect(isAllowed(limiter.takeAddress("192.0.2.1", 60_000))).toBe(true);
  // The next place of two a minute is free after half a minute.
  expect(limiter.takeUser("42", 60_000)).toBe(30);
  expect([0, 1, 2].map(() => isAllowed(limiter.takeUser("42", 119_999)))).toEqual([true, true, false]);
});

test("the addresses of one customer's IPv6 network count as one", () => {
  const limiter = limitSignIns({ perAddress: 1, perUser: 1 });
  expect(isAllowed(limiter.takeAddress("2001:db8:1:2:3:4:5:6", 0))).toBe(true);
  expect(isAllowed(limiter.takeAddress("2001:db8:1:2::9", 0))).toBe(false);
  expect(isAllowed(limiter.takeAddress("2001:db8:1:3::9", 0))).toBe(true);
  expect(isAllowed(limiter.takeAddress("2001:db8:7::1", 0))).toBe(true);
  for (const spelling of ["2001:db8:7::2", "2001:0DB8:7:0:1::", "2001:db8:7:0:0:0:0:3", "2001:db8:7::1:2:3:4"]) {
    expect(isAllowed(limiter.takeAddress(spelling, 0))).toBe(false);
  }
  expect(isAllowed(limiter.takeAddress("192.0.2.9", 0))).toBe(true);
  expect(isAllowed(limiter.takeAddress("::ffff:192.0.2.9", 0))).toBe(false);
  expect(isAllowed(limiter.takeAddress("::ffff:192.0.2.8", 0))).toBe(true);
});

test("a million addresses do not exhaust the memory", { tags: "long" }, () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const heapUsed = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const limiter = limitSignIns({ perAddress: 1, perUser: 1 });
  const before = heapUsed();
  const addressOf = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  for (let index = 0; index < 1_000_000; index++) limiter.takeAddress(addressOf(index), 0);
  expect(heapUsed() - before).toBeLessThan(50 * 1024 * 1024);
});

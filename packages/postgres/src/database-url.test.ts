import pg from "pg";
import { describe, expect, test } from "vitest";
import { checkDatabaseUrl, connectionOf, placeOf } from "./database-url.ts";

function faultsOf(value: string): string[] {
  const issues: { message: string }[] = [];
  checkDatabaseUrl({ value, issues });
  return issues.map(({ message }) => message);
}

describe("a password with any character is accepted percent-encoded, and nothing of it is told", () => {
  test.each([
    "hush@hush",
    "hush/hush",
    "hush#hush",
    "hush?hush",
    "hush:hush",
    "hush%hush",
    "12/hush",
    "hush hush",
    "h&=u+sh",
  ])("%s", (password) => {
    const url = `postgres://me:${encodeURIComponent(password)}@db.test:5432/ads?sslmode=disable`;
    expect(faultsOf(url)).toEqual([]);
    expect(placeOf(url)).toBe("db.test:5432/ads");
    expect(new pg.Client({ connectionString: url }).password).toBe(password);
  });
});

test("an address that is not in order is never shown", () => {
  for (const url of [
    "postgres://me:p@hush/hush@db.test/ads",
    "postgres://me:12#hush@db.test/ads",
    "postgres://me:%@x",
    "no",
  ]) {
    expect(faultsOf(url)).toHaveLength(1);
    expect(placeOf(url)).toBe("unreadable address");
  }
});

test("an sslmode that does not exist is told, with those that do", () => {
  const url = "postgres://me@db.test/ads?sslmode=";
  expect(faultsOf(`${url}verify_full`)).toEqual([
    "has an sslmode that is none of disable, prefer, require, verify-ca, verify-full, no-verify",
  ]);
  expect(faultsOf(`${url}verify-full`)).toEqual([]);
});

test("a socket without its encoding, and several hosts, are told with the form that is meant", () => {
  for (const url of ["postgres://me:hush@/ads?host=/run/postgresql", "postgres://me:hush@a.test:5432,b.test:5432/ads"])
    expect(faultsOf(url)).toEqual([expect.stringMatching(/^must name one host, .*@%2Frun%2Fpostgresql/)]);
  for (const url of ["postgres://me:hush@%2Frun%2Fpostgresql/ads", "postgres://me:a,b@db.test/ads"])
    expect(faultsOf(url)).toEqual([]);
  expect(faultsOf("postgres://db.test?options=-c%20x=a,b")).toEqual([]);
});

test("the driver gets the sslmode that it takes the others for, so that it warns of nothing", () => {
  const url = "postgres://me:sslmode=require@db.test/ads";
  expect(connectionOf(`${url}?sslmode=require`).connectionString).toBe(`${url}?sslmode=verify-full`);
  expect(connectionOf(`${url}?a=b&sslmode=prefer&c=d`).connectionString).toBe(`${url}?a=b&sslmode=verify-full&c=d`);
  for (const kept of ["?sslmode=disable", "?sslmode=no-verify", "?uselibpqcompat=true&sslmode=require", ""])
    expect(connectionOf(url + kept).connectionString).toBe(url + kept);
});

test("the place is the one that the driver connects to", () => {
  expect(placeOf("postgres:///ads?host=/run/postgresql&port=5433&user=me")).toBe("/run/postgresql:5433/ads");
  expect(placeOf("postgresql://db.test")).toBe("db.test");
  expect(placeOf("postgres://[::1]:5432/ads")).toBe("[::1]:5432/ads");
});

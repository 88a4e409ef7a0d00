import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";

/** The logger writes to standard output, so it is tested in a process of its own. */
function logged(facts: string): string {
  const script = `
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, "logger.ts"))};
    createLogger({ level: "info", name: "test" }).info(${facts}, "said");
  `;
  return spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], { encoding: "utf8" }).stdout;
}

test("tokens, init data and codes are redacted, also in nested objects and headers", () => {
  const line = logged(
    `{ token: "SECRET", code: "SECRET", request: { initData: "SECRET", headers: { authorization: "SECRET" } } }`,
  );
  expect(line).not.toContain("SECRET");
  expect(JSON.parse(line)).toMatchObject({ msg: "said", token: "[redacted]" });
});

test("a secret is redacted at any depth: in lists, in errors and their causes' fields, and in a child's bindings", () => {
  const deep = logged(`{
    a: { b: { c: [{ headers: { Authorization: "SECRET", cookie: "SECRET" } }] } },
    err: Object.assign(new Error("broken"), { options: { request: { headers: { authorization: "SECRET" } } } }),
    at: new Date(0),
  }`);
  expect(deep).not.toContain("SECRET");
  const expected = { a: { b: { c: [{ headers: { Authorization: "[redacted]" } }] } }, at: "1970-01-01T00:00:00.000Z" };
  expect(JSON.parse(deep)).toMatchObject({ ...expected, err: { message: "broken" } });

  const lines: string[] = [];
  const logger = createLogger({ level: "info", name: "test", write: (line) => lines.push(line) });
  logger.child({ token: "SECRET", view: { initData: "SECRET" } }).info("said");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { token: "[redacted]", view: { initData: "[redacted]" } },
  ]);
});

test("a cycle ends in a note", () => {
  const line = logged(`(() => { const one = { name: "one" }; one.self = one; return { one }; })()`);
  expect(line).toContain("[deeper]");
});

test("the log keeps the code of an error", () => {
  const line = logged(`{ err: Object.assign(new Error("broken"), { code: "ECONNREFUSED" }) }`);
  expect(JSON.parse(line).err).toMatchObject({ message: "broken", code: "ECONNREFUSED" });
});

test("a number is not a link's code: VAST error codes stay readable", () => {
  const line = JSON.parse(logged(`{ creativeId: "cre_1", code: 303, detail: "no ad", tag: { code: 402 } }`));
  expect(line).toMatchObject({ creativeId: "cre_1", code: 303, detail: "no ad", tag: { code: 402 } });
});

test.each(["7Hk4aBcDeFgH23jk", "23ABCDEFGHJKMNPQ", "7777333344445555"])("a link's code is redacted: %s", (code) => {
  const line = logged(`{ code: "${code}", view: { code: "${code}" } }`);
  expect(line).not.toContain(code);
  expect(JSON.parse(line)).toMatchObject({ code: "[redacted]", view: { code: "[redacted]" } });
});

test.each(["23505", "ECONNREFUSED", "EPROTONOSUPPORT", "CERT_HAS_EXPIRED", "UND_ERR_CONNECT_TIMEOUT"])(
  "an error's code %s stays readable, and the values that PostgreSQL quotes are removed",
  (code) => {
    const fields = `code: "${code}", table: "codes", detail: "Key (code)=(SECRET) already exists.", where: "SECRET"`;
    const line = logged(`Object.assign(new Error("broken"), { ${fields} })`);
    expect(line).not.toContain("SECRET");
    expect(JSON.parse(line).err).toMatchObject({ message: "broken", code, table: "codes" });
  },
);

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { userNames, userNamesFrom } from "./logged-users.ts";
import { createLogger } from "./logger.ts";

function logged(facts: object): string {
  const lines: string[] = [];
  createLogger({ level: "info", name: "test", write: (line) => lines.push(line) }).info(facts, "said");
  return lines.join("");
}

test("tokens, init data and codes are redacted, also in nested objects and headers", () => {
  const request = { initData: "SECRET", headers: { authorization: "SECRET" } };
  const line = logged({ token: "SECRET", code: "SECRET", request });
  expect(line).not.toContain("SECRET");
  expect(JSON.parse(line)).toMatchObject({ msg: "said", token: "[redacted]" });
});

test("a secret is redacted at any depth: in lists, in errors and their causes' fields, and in a child's bindings", () => {
  const deep = logged({
    a: { b: { c: [{ headers: { Authorization: "SECRET", cookie: "SECRET" } }] } },
    err: Object.assign(new Error("broken"), { options: { request: { headers: { authorization: "SECRET" } } } }),
    at: new Date(0),
  });
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
  const one: { name: string; self?: object } = { name: "one" };
  one.self = one;
  const line = logged({ one });
  expect(line).toContain("[deeper]");
});

test("the log keeps the code of an error", () => {
  const line = logged({ err: Object.assign(new Error("broken"), { code: "ECONNREFUSED" }) });
  expect(JSON.parse(line).err).toMatchObject({ message: "broken", code: "ECONNREFUSED" });
});

test("a number is not a link's code: VAST error codes stay readable", () => {
  const line = JSON.parse(logged({ creativeId: "cre_1", code: 303, detail: "no ad", tag: { code: 402 } }));
  expect(line).toMatchObject({ creativeId: "cre_1", code: 303, detail: "no ad", tag: { code: 402 } });
});

test.each(["7Hk4aBcDeFgH23jk", "23ABCDEFGHJKMNPQ", "7777333344445555"])("a link's code is redacted: %s", (code) => {
  const line = logged({ code, view: { code } });
  expect(line).not.toContain(code);
  expect(JSON.parse(line)).toMatchObject({ code: "[redacted]", view: { code: "[redacted]" } });
});

test.each(["23505", "ECONNREFUSED", "EPROTONOSUPPORT", "CERT_HAS_EXPIRED", "UND_ERR_CONNECT_TIMEOUT"])(
  "an error's code %s stays readable, and the values that PostgreSQL quotes are removed",
  (code) => {
    const fields = { code, table: "codes", detail: "Key (code)=(SECRET) already exists.", where: "SECRET" };
    const line = logged(Object.assign(new Error("broken"), fields));
    expect(line).not.toContain("SECRET");
    expect(JSON.parse(line).err).toMatchObject({ message: "broken", code, table: "codes" });
  },
);

test("users are hashed wherever their ids stand: fields, lists, child bindings, messages and stacks of errors", () => {
  const lines: string[] = [];
  const nameUser = userNamesFrom("a secret");
  const logger = createLogger({ level: "info", name: "test", write: (line) => lines.push(line), nameUser });
  const hash = nameUser("100000001");
  expect(hash).toMatch(/^u_[0-9a-f]{12}$/);
  expect(userNamesFrom("another")("100000001")).not.toBe(hash);
  const cause = Object.assign(new Error("invalid input: 100000001, id-100000001, abc-100000001 and 100000001-bad"), {
    where: "portal with 100000001",
  });
  const several = new AggregateError([cause], "two of 100000001");
  const facts = {
    userIds: ["100000001"],
    answer: { userId: 100000001, url: "/users/100000001/x?user_tg_id=100000001" },
  };
  logger.child({ userId: "100000001", view: { userId: "100000001" } }).info(facts, "said");
  for (const error of [cause, new Error("outer", { cause }), several]) logger.error(error);
  logger.error({ err: cause, reason: 'of {"userId":100000001}' });
  logger.error({ err: "100000001", user_id: 100000001n });
  expect(lines).toHaveLength(6);
  for (const line of lines) {
    expect(line).not.toContain("100000001");
    expect(line).toContain(hash);
  }
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ userId: hash, view: { userId: hash }, userIds: [hash] });
});

test("ids of bots, ports, dates, UUIDs, figures and the own words of a line stay as they are", () => {
  const err = new Error(
    "connect ECONNREFUSED 127.0.0.1:54321 at 2026-11-28 of 8d3cbb4e-4a5e-4c52-9d4f-123456789012, 0.12345678",
  );
  const facts = { botId: "7000000001", botIds: ["7000000001"], bytes: 104857600, eventId: "evt_123456789", err };
  const line = logged(facts);
  expect(JSON.parse(line)).toMatchObject({ ...facts, err: {} });
  const lines: string[] = [];
  createLogger({ level: "info", name: "test", write: (one) => lines.push(one) }).error(err, "notices show 7000000001");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ err: { message: err.message }, msg: "notices show 7000000001" });
});

test("LOG_USER_IDS=plain writes the ids as they are", () => {
  const lines: string[] = [];
  const nameUser = userNames("plain", "a secret");
  createLogger({ level: "info", name: "test", write: (line) => lines.push(line), nameUser }).info({ userId: "71" });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ userId: "71" });
});

test.each(["process.exit(3)", 'throw new Error("crash")', ""])(
  "no line is lost when the process ends in the same turn: %j",
  (end) => {
    const script = `
      import { createLogger } from ${JSON.stringify(join(import.meta.dirname, "logger.ts"))};
      const logger = createLogger({ level: "info", name: "test" });
      for (let line = 0; line < 2000; line++) logger.info({ line }, "said");
      ${end};
    `;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
      encoding: "utf8",
    });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).line);
    expect(lines).toEqual(Array.from({ length: 2000 }, (_, line) => line));
  },
);

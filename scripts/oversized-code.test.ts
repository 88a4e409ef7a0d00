import { expect, test } from "vitest";
import { findOversizedCode, MAX_FUNCTION_LINES, MAX_STATEMENT_LINES } from "./oversized-code.ts";

const lines = (count: number, line = "  step();") => Array.from({ length: count }, () => line).join("\n");
/** A function of so many lines. */
const functionOf = (count: number, head = "function work() {", end = "}") => `\n${head}\n${lines(count - 2)}\n${end}\n`;

test.each([
  ["a function", "function work() {", "}", "work"],
  ["an exported function", "export async function work() {", "}", "work"],
  ["an arrow function", "const work = async () => {", "};", "work"],
  ["a method", "const verbs = { async work() {", "} };", "work"],
  ["a method of a class", "class Shop { work(): void {", "} }", "work"],
  ["a property", "const verbs = { work: () => {", "} };", "work"],
  ["a callback", 'shop.on("open", () => {', "});", "that shop.on() is called with"],
  ["a function called at once", "(function () {", "})();", "without a name"],
])("%s over 80 lines is found, with its place and its name", (_what, head, end, name) => {
  expect(findOversizedCode("a.ts", functionOf(MAX_FUNCTION_LINES, head, end))).toEqual([]);
  expect(findOversizedCode("a.ts", functionOf(MAX_FUNCTION_LINES + 1, head, end))).toEqual([
    expect.stringMatching(/^a\.ts:2: the function .* has 81 lines, at most 80 are allowed: make each of its steps/),
  ]);
  expect(findOversizedCode("a.ts", functionOf(200, head, end))[0]).toContain(` ${name} has 200 lines`);
});

test("comments, blank lines and functions inside count", () => {
  const text = `const outer = () => {\n${lines(30, "  // why")}\n\n${functionOf(50)}};`;
  expect(findOversizedCode("a.tsx", text)).toEqual([expect.stringContaining("the function outer has 84 lines")]);
});

test.each([
  ["a prepared statement", 'const read = statement<Row>(\n  "shops.read",\n  `select', "shops.read"],
  ["a part of one", "const counted = `counted as (\n  insert into shops", "counted"],
  ["a statement of another object", "await client.query(`\n  with shops as", "that client.query() is called with"],
])("%s over 60 lines is found, with its place and its name", (_what, head, name) => {
  const short = MAX_STATEMENT_LINES - head.slice(head.indexOf("`")).split("\n").length;
  const text = (count: number) => `${head}\n${lines(count, "    column,")}\`)`;
  expect(findOversizedCode("a.ts", text(short).replace(/^(const counted.*)\)$/s, "$1"))).toEqual([]);
  const [fault] = findOversizedCode("a.ts", text(short + 1).replace(/^(const counted.*)\)$/s, "$1"));
  expect(fault).toMatch(/^a\.ts:\d: the statement .* has 61 lines, at most 60 are allowed: decide in TypeScript/);
  expect(fault).toContain(` ${name} has`);
});

test("what a statement inserts counts where it stands, and a long text without SQL is none", () => {
  const part = `const part = \`select\n${lines(40, "  column,")}\`;\n`;
  const whole = `const whole = \`with part as (\${part})\n${lines(40, "  column,")}\`;\n`;
  expect(findOversizedCode("a.ts", `${part}${whole}const page = \`<p>\n${lines(90, "text")}</p>\`;`)).toEqual([]);
});

test("a statement of a migration over 60 lines is found, with the quoted code of its functions", () => {
  const body = `-- Shops.\ncreate table shops (\n${lines(58, "  -- one; two\n".trimEnd())}\n);\n`;
  expect(findOversizedCode("0001-a.sql", body)).toEqual([]);
  const long = `${body}\n-- Works; 'really'.\ncreate function work(a text) as $$\nbegin\n${lines(60, "  perform 1;")}\nend $$;\n`;
  expect(findOversizedCode("0001-a.sql", long)).toEqual([
    expect.stringMatching(/^0001-a\.sql:64: "create function work" has 63 lines, at most 60 are allowed/),
  ]);
});

test("a file that cannot be parsed is a fault, and not a file without long functions", () => {
  expect(findOversizedCode("a.ts", "function (")).toEqual([expect.stringMatching(/^a\.ts cannot be parsed: /)]);
});

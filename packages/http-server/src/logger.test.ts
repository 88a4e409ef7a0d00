import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

/** The logger writes to standard output, so it is judged in a process of its own. */
function logged(facts: string): string {
  const script = `
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, "logger.ts"))};
    createLogger({ level: "info", name: "test" }).info(${facts}, "said");
  `;
  return spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], { encoding: "utf8" }).stdout;
}

test("tokens, init data and codes are not written, wherever they stand", () => {
  const line = logged(
    `{ token: "SECRET", code: "SECRET", request: { initData: "SECRET", headers: { authorization: "SECRET" } } }`,
  );
  expect(line).not.toContain("SECRET");
  expect(JSON.parse(line)).toMatchObject({ msg: "said", token: "[redacted]" });
});

test("an error keeps the code that says what it was", () => {
  const line = logged(`{ err: Object.assign(new Error("broken"), { code: "ECONNREFUSED" }) }`);
  expect(JSON.parse(line).err).toMatchObject({ message: "broken", code: "ECONNREFUSED" });
});

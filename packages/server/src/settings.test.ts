import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { readSettings, telegramBotToken } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "secret-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(text: string | Buffer): string {
  const path = join(folder, `secret-${Math.random()}`);
  writeFileSync(path, text);
  return path;
}

const schema = z.object({ KEY: z.string({ error: "is missing" }).min(4, "is short"), OTHER: z.string().optional() });
const read = (environment: NodeJS.ProcessEnv) => readSettings(schema, environment, { secrets: ["KEY"] });
const faultsOf = (environment: NodeJS.ProcessEnv) => {
  try {
    read(environment);
    return [];
  } catch (error) {
    return String(error).split("\n").slice(1);
  }
};

describe("a secret in a file", () => {
  test.each(["hush-hush", "hush-hush\n", "hush-hush\r\n", "\ufeffhush-hush \n\n"])(
    "is read without what is around it: %j",
    (text) => {
      expect(read({ KEY_FILE: fileWith(text) })).toEqual({ KEY: "hush-hush" });
    },
  );

  test("is used in place of the variable, and an empty variable is none", () => {
    expect(read({ KEY_FILE: fileWith("hush-hush"), KEY: "" })).toEqual({ KEY: "hush-hush" });
    expect(read({ KEY_FILE: "", KEY: "in the variable" })).toEqual({ KEY: "in the variable" });
  });

  test("is refused beside the variable, if it is missing, empty or no file: one fault, which names the setting", () => {
    mkdirSync(join(folder, "a-folder"));
    expect(faultsOf({ KEY: "hush", KEY_FILE: fileWith("hush") })).toEqual([
      expect.stringMatching(/^ {2}KEY_FILE and KEY are both set/),
    ]);
    expect(faultsOf({ KEY_FILE: join(folder, "missing") })).toEqual([
      expect.stringMatching(/^ {2}KEY_FILE names .*missing, which cannot be read \(ENOENT\)/),
    ]);
    expect(faultsOf({ KEY_FILE: fileWith("\n") })).toEqual([expect.stringContaining("which is empty")]);
    const inUtf16 = Buffer.from("\ufeffad_secret\r\n", "utf16le");
    for (const bytes of [inUtf16, Buffer.from(inUtf16).swap16()])
      expect(faultsOf({ KEY_FILE: fileWith(bytes) })).toEqual([
        expect.stringContaining("which is in UTF-16: save it as UTF-8"),
      ]);
    expect(faultsOf({ KEY_FILE: join(folder, "a-folder") })).toEqual([expect.stringContaining("must name a file")]);
    expect(faultsOf({ KEY_FILE: fileWith("x".repeat(70_000)) })).toEqual([expect.stringContaining("more than 64 kB")]);
  });

  test("is checked like the variable, and the fault does not repeat it", () => {
    expect(faultsOf({ KEY_FILE: fileWith("abc") })).toEqual(["  KEY is short"]);
  });
});

describe("TELEGRAM_BOT_TOKEN", () => {
  test.each([
    "123456789:the-token-that-BotFather-shows",
    "123456789:your-token-from-BotFather-here",
    "123456789:AA-your-token-here-000000000000",
    "123456789:paste_the_token_of_BotFather",
    "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11",
    "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    "4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc",
    "123456789:AAxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "123456789:REPLACE_ME_REPLACE_ME_REPLACE_ME",
  ])("that is a placeholder is refused: %s", (token) => {
    const { error } = telegramBotToken.safeParse(token);
    expect(error?.issues[0]?.message).toContain("is the placeholder of a documentation");
    expect(error?.issues[0]?.message).not.toContain(token);
  });

  test("that @BotFather makes is accepted", () => {
    for (const token of ["7000000001:AAFqV0vdSZ4ZlXh1sYourTokenq7xkqS0pA-_", `7000000001:${"A".repeat(35)}`]) {
      expect(telegramBotToken.parse(token)).toBe(token);
    }
  });
});

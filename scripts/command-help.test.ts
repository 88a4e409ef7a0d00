import { expect, test } from "vitest";
import { commandPrograms, type Program } from "./command-programs.ts";

/** The `--help` of a command, then of each command below it, which have the program's own options too. */
function helpTexts(command: Program, words: string): string[] {
  let text = "";
  command
    .configureHelp({ ...command.configureHelp(), helpWidth: 120, showGlobalOptions: false })
    .configureOutput({ writeOut: (part) => (text += part) })
    .outputHelp();
  const below = command.commands.flatMap((one) => helpTexts(one as Program, `${words} ${one.name()}`));
  return [`$ ${words} --help\n\n${text.trimEnd()}\n`, ...below];
}

test.each(["ads", "api"] as const)("the help of every command of %s is as its file shows", async (name) => {
  const texts = helpTexts(commandPrograms()[name], name);
  // Where the change is meant: ./pnpm vitest run scripts/command-help.test.ts --update
  await expect(texts.join(`\n${"─".repeat(120)}\n`)).toMatchFileSnapshot(`help-of-${name}.txt`);
});

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Argument, Command, Option } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { completionScript } from "./completion-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "completion-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(): Command {
  const ads = new Command("ads").option("--json", "as JSON");
  const bots = ads.command("bots").description("bots, and what's theirs");
  bots.command("list").description("all bots");
  bots
    .command("update")
    .description("change a bot")
    .addArgument(new Argument("<bot-id>"))
    .addOption(new Option("--skip-offer <answer>", "whether").choices(["yes", "no"]))
    .option("--name <name>", "its name");
  ads.command("completion").addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]));
  return ads;
}

/** What the shell offers at the end of a line. */
const offers = {
  bash: (file: string, words: string[]) =>
    spawnSync("bash", [
      "-c",
      `. ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _intermission; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      ...words,
    ]),
  // As bashcompinit calls it.
  zsh: (file: string, words: string[]) =>
    spawnSync("zsh", [
      "-f",
      "-c",
      `. ${file}; zmodload zsh/zle; emulate sh; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _intermission; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "zsh",
      ...words,
    ]),
  fish: (file: string, words: string[]) =>
    spawnSync("fish", ["--no-config", "-c", `source ${file}; complete -C '${words.join(" ")}' | cut -f 1`]),
} as const;

test.each(["bash", "zsh", "fish"] as const)(
  "%s offers commands, options and the values of choices",
  { tags: "long" },
  (shell) => {
    if (spawnSync(shell, ["--version"]).status !== 0)
      return console.log(`!!! completion was not tried: there is no ${shell}. Enable it: apt-get install ${shell}`);
    const file = join(folder, shell);
    writeFileSync(file, completionScript(program(), shell));
    const at = (...words: string[]) => {
      const { stdout, stderr, status } = offers[shell](file, ["./pnpm", "ads", ...words]);
      expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
      return String(stdout).trim().split("\n").toSorted();
    };
    expect(at("b")).toEqual(["bots"]);
    expect(at("bots", "")).toEqual(expect.arrayContaining(["list", "update"]));
    expect(at("bots", "update", "7000000001", "--sk")).toEqual(["--skip-offer"]);
    expect(at("bots", "update", "7000000001", "--skip-offer", "")).toEqual(["no", "yes"]);
    expect(at("--json", "bots", "update", "--n")).toEqual(["--name"]);
    expect(at("completion", "f")).toEqual(["fish"]);
    expect(at("bots", "unknown")).toEqual([""]);
  },
);

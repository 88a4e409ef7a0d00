import { Argument, type Command } from "commander";
import { withExamples } from "./command-line.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Something that may come next, and what it does. */
interface Completion {
  /** The commands before it, or those with an option whose value it is: `bots update`, `bots update --skip-offer`. */
  place: string;
  word: string;
  about: string;
}

/**
 * `completion`: a script of the shell that completes commands, options and the values of choices, made of the commands as they
 * are. It holds all of them, so that a completion starts no process of ours.
 */
export function completionCommand(program: Command): void {
  const name = program.name();
  const file = `~/.intermission-${name}`;
  withExamples(
    program.command("completion").description("a script that completes commands and options in your shell"),
    [
      `completion bash > ${file}.bash && echo '. ${file}.bash' >> ~/.bashrc`,
      `completion zsh > ${file}.zsh && echo '. ${file}.zsh' >> ~/.zshrc`,
      `completion fish > ~/.config/fish/conf.d/intermission-${name}.fish`,
    ],
  )
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => void process.stdout.write(completionScript(program, shell)));
}

/** For `./pnpm` of this repository, followed by the program's name. */
export function completionScript(program: Command, shell: Shell): string {
  const table = completionsOf(program, "")
    .map(({ place, word, about }) => `${place}\t${word}\t${about}`)
    .join("\n");
  return scripts[shell](program.name(), table);
}

function completionsOf(command: Command, place: string): Completion[] {
  const help = command.createHelp();
  const at = (word: string) => (place === "" ? word : `${place} ${word}`);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return [
    ...help
      .visibleCommands(command)
      .map((one) => ({ place, word: one.name(), about: firstLine(one.summary() || one.description()) })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ place, word, about: firstLine(description) })),
    ),
    ...options.flatMap(({ long, description, argChoices = [] }) => {
      const word = long ?? "";
      const values = argChoices.map((value) => ({ place: at(word), word: value, about: "" }));
      return [{ place, word, about: firstLine(description) }, ...values];
    }),
    ...command.commands.flatMap((one) => completionsOf(one, at(one.name()))),
  ];
}

const firstLine = (text: string) => text.split("\n")[0]?.replaceAll("\t", " ") ?? "";

/** zsh runs it as it is, with what `bashcompinit` adds. */
const bash = (name: string, table: string) => String.raw`_intermission_${name}() {
  cat <<'WORDS'
${table}
WORDS
}
_intermission() {
  local program="${"$"}{COMP_WORDS[1]}" word="${"$"}{COMP_WORDS[COMP_CWORD]}" place="" next found number
  COMPREPLY=()
  typeset -f "_intermission_$program" > /dev/null || return 0
  [ "$COMP_CWORD" -gt 1 ] || return 0
  for ((number = 2; number < COMP_CWORD; number++)); do
    next="${"$"}{COMP_WORDS[number]}"
    if "_intermission_$program" | cut -f 1,2 | grep -qxF -- "$place"$'\t'"$next"; then
      case "$next" in
        -*) ;;
        *) place="${"$"}{place:+$place }$next" ;;
      esac
    fi
  done
  next="${"$"}{COMP_WORDS[COMP_CWORD - 1]}"
  found="$("_intermission_$program" | awk -F '\t' -v place="${"$"}{place:+$place }$next" '$1 == place { print $2 }')"
  case "$next" in
    -*) ;;
    *) found="" ;;
  esac
  [ -n "$found" ] || found="$("_intermission_$program" | awk -F '\t' -v place="$place" '$1 == place { print $2 }')"
  COMPREPLY=($(printf '%s\n' "$found" | word="$word" awk 'index($0, ENVIRON["word"]) == 1'))
}
complete -F _intermission ./pnpm
`;

const scripts: Record<Shell, (name: string, table: string) => string> = {
  bash,
  zsh: (name, table) => `autoload -U +X compinit bashcompinit\ncompinit\nbashcompinit\n${bash(name, table)}`,
  fish: (name, table) => String.raw`function __intermission_${name}
    echo '${table.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'
end
function __intermission_${name}_next
    set -l words (commandline -opc)[3..]
    set -l place ""
    for word in $words
        if string match -q -- '-*' $word
            continue
        end
        set -l longer (string trim -- "$place $word")
        if __intermission_${name} | cut -f 1,2 | grep -qxF -- "$place"\t"$word"
            set place $longer
        end
    end
    set -l values
    if string match -q -- '-*' "$words[-1]"
        set values (__intermission_${name} | awk -F '\t' -v place=(string trim -- "$place $words[-1]") '$1 == place { print $2 }')
    end
    if test (count $values) -gt 0
        printf '%s\n' $values
    else
        __intermission_${name} | awk -F '\t' -v OFS='\t' -v place="$place" '$1 == place { print $2, $3 }'
    end
end
complete -p '*/pnpm' -f -n 'test (commandline -opc)[2] = ${name} 2>/dev/null' -a '(__intermission_${name}_next)'
`,
};

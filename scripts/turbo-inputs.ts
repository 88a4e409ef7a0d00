import { join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/** The inputs of a package's task that lie outside of it: `scripts` for `$TURBO_ROOT$/scripts/**`. */
export type InputsOf = (packageFolder: string) => readonly string[];

/**
 * Finds relative imports that leave their package and lead to no input of its task: turbo would skip the package after a
 * change of what they import. One line of text for each.
 */
export function findUndeclaredInputs(file: string, text: string, inputsOf: InputsOf): string[] {
  const [folder] = /^(?:apps|packages)\/[^/]+/.exec(file) ?? [];
  if (folder === undefined) return [];
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const imported = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
    .filter((path) => path.startsWith("."))
    .map((path) => normalize(join(file, "..", path)));
  return imported
    .filter((path) => !path.startsWith(`${folder}/`))
    .filter((path) => !inputsOf(folder).some((input) => path.startsWith(`${input}/`)))
    .map(
      (path) =>
        `${file} imports ${path}, which is no input of its package's task "types": add its folder in turbo.json`,
    );
}

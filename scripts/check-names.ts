/**
 * Refuses identifiers with a word that does not tell what the thing is. Identifiers are the names of variables, parameters,
 * properties, functions and types, columns and aliases of SQL, and files. Comments and texts are not checked.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { root } from "./processes.ts";

/** What to say instead of a word. Two words are joined by "_", as in `came_past` and `areNew`. */
export const replacements: ReadonlyMap<string, string> = new Map([
  ["told", "what it is: message, summary, reported, notified or expected"],
  ["asked", "request, requested or query"],
  ["given", "options, input, passed, received or presented, or name the thing itself"],
  ["wanted", "expected, required, requested or preferred"],
  ["ahead", "upcoming, future or prefetched; an amount of time is a lead or an offset"],
  ["came_past", "what happened to the row, such as inserted"],
  ["are_new", "what was checked, such as existenceChecked"],
]);

/** As the first word of a constant. Elsewhere they are plain: the longest chain is a chain. */
export const replacementsInConstants: ReadonlyMap<string, string> = new Map([
  ...["most", "largest", "longest"].map((word) => [word, "MAX_ and a noun"] as const),
  ...["least", "smallest", "shortest"].map((word) => [word, "MIN_ and a noun"] as const),
]);

/** Where the watching of an ad is a view. People's and TLS sessions are in other folders. */
const viewFolders =
  /^apps\/ad-service\/(src\/(ad-selection|campaigns|clicks|codes|creatives|events|statistics|users|vast|views)|test\/fixtures)\//;
/** What the wire calls a session: fields, the types of requests and answers, and the token. */
const wireSessions = /^(sessions|session_id)$|session_token|^open_session_(request|response|refusal)$/;

/** The sentence about a name that is refused in this file. */
function faultOfName(name: string, file: string): string | undefined {
  const separated = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2");
  const words = separated
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const isSession = words.some((word) => /^sessions?$/.test(word)) && !wireSessions.test(words.join("_"));
  if (isSession && viewFolders.test(file))
    return `"${name}" is a name of the wire. Inside the ad service say view; session is for fields of the wire and the session token`;
  const candidates = words.flatMap((word, index) => [word, word.replace(/^un/, ""), `${word}_${words[index + 1]}`]);
  const word = candidates.find((candidate) => replacements.has(candidate));
  const first = /^[A-Z0-9_]+$/.test(name) ? replacementsInConstants.get(words[0] ?? "") : undefined;
  if (word === undefined && first === undefined) return undefined;
  return `"${name}" does not tell what it is. Instead of ${word?.replace("_", " ") ?? words[0]}, say ${first ?? replacements.get(word ?? "")}`;
}

/** Comments and texts of the languages that are not parsed; what remains is code. */
const prose: Readonly<Record<string, RegExp>> = {
  ".sql": /--.*|\/\*[\s\S]*?\*\/|'[^']*'/g,
  ".py": /#.*|[a-z]*"""[\s\S]*?"""|[a-z]*"(?:\\.|[^"\\\n])*"|[a-z]*'(?:\\.|[^'\\\n])*'/g,
  ".go": /\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])*'/g,
  ".php": /\/\/.*|#.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g,
};
const parsed = [".ts", ".tsx", ".js", ".mjs", ".cjs"];

/** A file without any of these words has nothing to refuse, so that most files are not parsed. */
const anyWord = new RegExp(
  ["session", ...replacements.keys(), ...replacementsInConstants.keys()].join("|").replaceAll("_", "_?"),
  "i",
);

interface Identifier {
  readonly name: string;
  readonly at: number;
}

const blank = (text: string) => text.replaceAll(/[^\n]/g, " ");

function identifiersIn(code: string, start = 0): Identifier[] {
  return [...code.matchAll(/[\p{L}_$][\p{L}\d_$]*/gu)].map(({ 0: name, index }) => ({ name, at: start + index }));
}

/** All words of a statement; of any other text those that look like columns, as `is_held` and `views.code`. */
function columnsIn(text: string, start: number): Identifier[] {
  const code = text.replaceAll(prose[".sql"] ?? "", blank);
  const names = identifiersIn(code, start);
  const isStatement =
    /^\W*(with|select|insert into|update|delete from|create|alter table)\s/.test(code) && /[_$=(]/.test(code);
  if (isStatement) return names;
  return names.filter(({ name, at }) => {
    const [from, to] = [at - start, at - start + name.length];
    return name.includes("_") || (/^\.\w/.test(code.slice(to)) && !/[-/]$/.test(code.slice(0, from)));
  });
}

function identifiersOfScript(file: string, text: string): Identifier[] {
  const found: Identifier[] = [];
  const add = ({ name, start }: { name: string; start: number }) => found.push({ name, at: start });
  const visitor = new Visitor({
    Identifier: add,
    JSXIdentifier: add,
    PrivateIdentifier: add,
    Literal({ value, start, end }) {
      if (typeof value === "string" && value.includes(" "))
        found.push(...columnsIn(text.slice(start + 1, end - 1), start + 1));
    },
    TemplateLiteral({ start, end, expressions }) {
      let sql = text.slice(start, end);
      for (const part of expressions) {
        const [from, to] = [part.start - start, part.end - start];
        sql = sql.slice(0, from) + blank(sql.slice(from, to)) + sql.slice(to);
      }
      found.push(...columnsIn(sql, start));
    },
  });
  const { program, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file} cannot be read: ${errors[0].message}`);
  visitor.visit(program);
  return found;
}

/** A sentence for each line of the file with a refused name, and for the name of the file. */
export function nameFaults(file: string, text: string): string[] {
  const extension = extname(file);
  const form = prose[extension];
  const fileFault = faultOfName(basename(file, extension), file);
  const faults = fileFault === undefined ? [] : [`${file}: the file's name ${fileFault}`];
  if (!anyWord.test(text)) return faults;
  const identifiers = form ? identifiersIn(text.replaceAll(form, blank)) : identifiersOfScript(file, text);
  for (const { name, at } of identifiers) {
    const fault = faultOfName(name, file);
    if (fault !== undefined) faults.push(`${file}:${text.slice(0, at).split("\n").length}: ${fault}`);
  }
  return [...new Set(faults)];
}

if (import.meta.main) {
  const patterns = [...parsed, ...Object.keys(prose)].map((extension) => `*${extension}`);
  const words = ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns];
  const files = execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const present = files.map((file) => ({ file, path: join(root, file) })).filter(({ path }) => existsSync(path));
  const faults = present.flatMap(({ file, path }) => nameFaults(file, readFileSync(path, "utf8")));
  for (const fault of faults) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}

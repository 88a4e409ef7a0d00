import { expect, test } from "vitest";
import { nameFaults, replacements, replacementsInConstants } from "./check-names.ts";

const camelCase = (word: string) => word.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
const capitalized = (word: string) => camelCase(`_${word}`);

/** Files with one name each that is composed with the word. */
const planted: [what: string, file: string, text: (word: string) => string][] = [
  ["a variable", "a.ts", (word) => `\nexport const ${camelCase(word)} = 1;`],
  ["a parameter", "a.ts", (word) => `\nexport const f = (is${capitalized(word)}: boolean) => 1;`],
  ["a destructured field", "a.ts", (word) => `\nexport const f = ({ ${camelCase(word)}Rows }: object) => 1;`],
  ["a private field", "a.ts", (word) => `\nclass A { #${camelCase(word)} = 1; }`],
  ["a type", "a.ts", (word) => `\nexport interface ${capitalized(word)}Settings {}`],
  ["a type's field", "a.ts", (word) => `\nexport type A = { readonly ${camelCase(word)}At: Date };`],
  ["a component's property", "a.tsx", (word) => `\nexport const A = () => <a ${camelCase(word)}={1} />;`],
  ["a constant", "a.js", (word) => `\nexport const MAX_${word.toUpperCase()}_MS = 1;`],
  ["an alias in a statement", "a.ts", (word) => `\nrun(\`select \${x} from "rows" as ${word} where a = $1\`);`],
  ["an alias in a short statement", "a.ts", (word) => `\nrun("select code from codes as ${word} where a = $1");`],
  ["a column in a part of a statement", "a.ts", (word) => `\nconst part = \`and a.is_${word}\`;`],
  ["an alias in a part of a statement", "a.ts", (word) => `\nconst part = \`and ${word}.at > now()\`;`],
  ["a column", "1.sql", (word) => `\n  ${word} integer, -- ${word}`],
  ["a name in Python", "a.py", (word) => `\ndef f(is_${word}): # ${word}`],
  ["a name in Go", "a.go", (word) => `\nfor _, ${word} := range "${word}" {}`],
  ["a name in PHP", "a.php", (word) => `\nforeach ($all as $${word}) {}`],
];

test.each(planted)(
  "%s with a word that tells nothing is refused, with its line and what to say",
  (_what, file, text) => {
    for (const [word, replacement] of replacements) {
      expect(nameFaults(`scripts/${file}`, text(word))).toEqual([
        expect.stringMatching(
          new RegExp(`^scripts/${file}:2: ".*Instead of ${word.replace("_", " ")}, say ${replacement}$`),
        ),
      ]);
    }
  },
);

test("the same holds for its negation, and for the name of a file", () => {
  expect(nameFaults("a.ts", "const unwanted = 1;")).toEqual([expect.stringContaining('"unwanted"')]);
  expect(nameFaults("src/judge-asked.sql", "")).toEqual([
    expect.stringContaining("src/judge-asked.sql: the file's name"),
  ]);
});

test("a constant that begins with a superlative is refused; a variable with one is not", () => {
  for (const [word, replacement] of replacementsInConstants) {
    const constant = `${word.toUpperCase()}_CODES`;
    expect(nameFaults("a.ts", `const ${constant} = 1;`)).toEqual([expect.stringContaining(`say ${replacement}`)]);
    expect(nameFaults("a.ts", `const ${word}Chain = [];`)).toEqual([]);
  }
});

test("sentences and the words of the contract are not names", () => {
  const script = `
    // What was asked, told, given and wanted lies ahead.
    const message = \`the token that was given belongs to \${bot}: it is not the one asked for\`;
    const reasons = ["ahead-of-plan", "tap-asked-address", "given"];
    const read = statement("codes.read", \`select code from codes where state = 'asked' -- as told\`);
    process.env.MAX_DAILY_CLICKS_PER_ADDRESS;`;
  expect(nameFaults("a.ts", script)).toEqual([]);
  expect(nameFaults("a.sql", "-- what was asked\nselect 'told', code /* given */ from codes;")).toEqual([]);
  expect(nameFaults("a.py", 'def f(code):\n    """What was asked."""\n    return "told" # given')).toEqual([]);
});

test("inside the ad service a view is no session, except for fields of the wire and the token", () => {
  const file = "apps/ad-service/src/views/a.ts";
  const names = [
    "session",
    "readSession",
    "AdSession",
    "session_state",
    "sessionFixture",
    "openSession",
    "ad_sessions",
  ];
  for (const name of names) {
    expect(nameFaults(file, `const ${name} = 1;`)).toEqual([expect.stringMatching(`^${file}:1: "${name}".*say view`)]);
    expect(nameFaults("apps/ad-service/src/people/a.ts", `const ${name} = 1;`)).toEqual([]);
    expect(nameFaults("e2e/a.ts", `const ${name} = 1;`)).toEqual([]);
  }
  expect(nameFaults(file, "run(`select session_key from views where bot_id = $1`);")).toHaveLength(1);
  expect(nameFaults("apps/ad-service/src/views/sweep-sessions.ts", "")).toHaveLength(1);
  const wire = `
    // The session's token.
    const { sessions, session_id: viewId } = answer satisfies OpenSessionResponse;
    const outcome = isSessionToken(newSessionToken(), hash) ? "session" : "the session is unknown";
    send(\`/player/v1/sessions/\${viewId}\`, { sessionId: viewId });`;
  expect(nameFaults("apps/ad-service/src/views/session-token.ts", wire)).toEqual([]);
});

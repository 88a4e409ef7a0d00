/**
 * A webhook as a program that sends it: to a receiver of one's own, or to a colleague. Only what the contract signs and names
 * is copied; the connection's own headers are not.
 */
const copied = /^(content-type|x-(bot-id|timestamp|signature)|webhook-.*)$/;

function headersOf({ headers }) {
  return Object.entries(headers).filter(([name]) => copied.test(name));
}

const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

function asCurl(request) {
  const headers = headersOf(request).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`);
  // --data-raw: a body that begins with @ is no file name.
  return [`curl -sS -X POST ${quoted(request.url)} \\`, ...headers, `  --data-raw ${quoted(request.body)}`].join("\n");
}

function asTypeScript(request) {
  return `const response = await fetch(${JSON.stringify(request.url)}, {
  method: "POST",
  headers: ${JSON.stringify(Object.fromEntries(headersOf(request)), undefined, 2).replace(/\n/g, "\n  ")},
  body: ${JSON.stringify(request.body)},
});
console.log(response.status, await response.text());`;
}

/** JSON's text literals are Python's, too. */
function asPython(request) {
  const headers = headersOf(request).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  return [
    "from urllib.request import Request, urlopen",
    "",
    `body = ${JSON.stringify(request.body)}.encode()`,
    "headers = {",
    ...headers,
    "}",
    `request = Request(${JSON.stringify(request.url)}, body, headers, method="POST")`,
    "with urlopen(request) as response:",
    "    print(response.status, response.read().decode())",
  ].join("\n");
}

/** By the name of the language. */
export const requestForms = { curl: asCurl, TypeScript: asTypeScript, Python: asPython };

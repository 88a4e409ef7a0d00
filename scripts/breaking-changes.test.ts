import { describe, expect, test } from "vitest";
import { breakingChanges, unannounced } from "./breaking-changes.ts";

type Schema = Record<string, unknown>;

const words = (...all: string[]) => ({ type: "string", enum: all });
const object = (properties: Schema, required = Object.keys(properties), more: Schema = {}) => ({
  type: "object",
  properties,
  required,
  ...more,
});
const json = (schema: Schema) => ({ content: { "application/json": { schema } } });

/** A document with one operation. */
function documentOf(operation: Schema, more: Schema = {}): Schema {
  return { servers: [{ url: "http://ads.test/client/v1" }], paths: { "/codes": { post: operation } }, ...more };
}

const ofAnswer = (schema: Schema, more: Schema = {}) => documentOf({ responses: { 200: json(schema) } }, more);
const ofBody = (schema: Schema) => documentOf({ requestBody: { required: true, ...json(schema) }, responses: {} });

function sentencesOf(older: Schema, newer: Schema): string[] {
  return breakingChanges(older, newer).map(({ operation, sentence }) => `${operation} ${sentence}`);
}

describe("what breaks a client", () => {
  const code = object({ code: { type: "string" } });
  test.each<[string, Schema, Schema]>([
    ["is gone: a client that calls it is answered 404 or 405", ofAnswer(code), { ...ofAnswer(code), paths: {} }],
    ["no longer answers 200", ofAnswer(code), documentOf({ responses: { 201: json(code) } })],
    ["the answer's field `code` is gone", ofAnswer(code), ofAnswer(object({}))],
    ["the answer's field `code` may be missing", ofAnswer(code), ofAnswer(object(code.properties, []))],
    [
      "the answer's field `code` may be number: a client that reads string fails",
      ofAnswer(code),
      ofAnswer(object({ code: { type: "number" } })),
    ],
    [
      "the answer's field `code` may be null",
      ofAnswer(code),
      ofAnswer(object({ code: { anyOf: [{ type: "string" }, { type: "null" }] } })),
    ],
    [
      "the answer's field `codes[].code` is gone",
      ofAnswer(object({ codes: { type: "array", items: code } })),
      ofAnswer(object({ codes: { type: "array", items: object({}) } })),
    ],
    [
      "the answer's field `url` is gone",
      ofAnswer({ oneOf: [object({ kind: words("a"), url: { type: "string" } }), object({ kind: words("b") })] }),
      ofAnswer({ oneOf: [object({ kind: words("b") }), object({ kind: words("a") })] }),
    ],
    ["the body's field `user` is required", ofBody(object({}, [])), ofBody(object({ user: { type: "string" } }))],
    [
      "the body's field `user` is gone: a client that sends it is refused",
      ofBody(object({ user: { type: "string" } }, [])),
      ofBody(object({}, [], { additionalProperties: false })),
    ],
    [
      "the body's field `scope` no longer takes `failed`",
      ofBody(object({ scope: words("all", "failed") })),
      ofBody(object({ scope: words("all") })),
    ],
    [
      "the body's field `name` has `maxLength` 10 instead of 20",
      ofBody(object({ name: { type: "string", maxLength: 20 } })),
      ofBody(object({ name: { type: "string", maxLength: 10 } })),
    ],
    [
      "the body's field `name` no longer takes null",
      ofBody(object({ name: { type: ["string", "null"] } })),
      ofBody(object({ name: { type: "string" } })),
    ],
    ["needs a body", documentOf({ responses: {} }), ofBody(object({}))],
    [
      "needs the parameter `from`",
      documentOf({ responses: {} }),
      documentOf({ parameters: [{ name: "from", in: "query", required: true }], responses: {} }),
    ],
    [
      "has lost the parameter `from`",
      documentOf({ parameters: [{ name: "from", in: "query" }], responses: {} }),
      documentOf({ responses: {} }),
    ],
    ["needs a token", ofAnswer(code), ofAnswer(code, { security: [{ apiToken: [] }] })],
    [
      "the answer's field `code` may be number",
      ofAnswer({ $ref: "#/components/schemas/Code" }, { components: { schemas: { Code: code } } }),
      ofAnswer(
        { $ref: "#/components/schemas/Code" },
        { components: { schemas: { Code: object({ code: { type: "integer" } }) } } },
      ),
    ],
    [
      "webhook event its field `event` is gone",
      { webhooks: { event: { post: { requestBody: json(object({ event: words("rewarded") })) } } } },
      { webhooks: { event: { post: { requestBody: json(object({})) } } } },
    ],
  ])("%s", (expected, older, newer) => {
    expect(sentencesOf(older, newer)).toHaveLength(1);
    expect(sentencesOf(older, newer)[0]).toContain(expected);
    expect(sentencesOf(older, older)).toEqual([]);
  });
});

describe("what breaks none", () => {
  test.each<[string, Schema, Schema]>([
    ["a further field of an answer", ofAnswer(object({})), ofAnswer(object({ more: { type: "string" } }))],
    ["a further optional field of a body", ofBody(object({})), ofBody(object({ more: { type: "string" } }, []))],
    [
      "a further word of an answer",
      ofAnswer(object({ state: words("a") })),
      ofAnswer(object({ state: words("a", "b") })),
    ],
    ["fewer words of an answer", ofAnswer(object({ state: words("a", "b") })), ofAnswer(object({ state: words("a") }))],
    ["a further word of a body", ofBody(object({ scope: words("a") })), ofBody(object({ scope: words("a", "b") }))],
    [
      "a further kind of object in an answer",
      ofAnswer(object({ kind: words("a") })),
      ofAnswer({ oneOf: [object({ kind: words("a") }), object({ kind: words("b"), url: { type: "string" } })] }),
    ],
    [
      "a wider limit of a body",
      ofBody(object({ name: { type: "string", maxLength: 10 } })),
      ofBody(object({ name: { type: "string", maxLength: 20 } })),
    ],
    [
      "a narrower limit of an answer",
      ofAnswer(object({ name: { type: "string", maxLength: 20 } })),
      ofAnswer(object({ name: { type: "string", maxLength: 10 } })),
    ],
    [
      "a further operation",
      ofAnswer(object({})),
      {
        ...ofAnswer(object({})),
        paths: { ...(ofAnswer(object({})).paths as Schema), "/more": { get: { responses: {} } } },
      },
    ],
    [
      "a type that contains itself",
      ofAnswer({ $ref: "#/components/schemas/Tree" }, { components: { schemas: { Tree: tree() } } }),
      ofAnswer({ $ref: "#/components/schemas/Tree" }, { components: { schemas: { Tree: tree() } } }),
    ],
  ])("%s", (_, older, newer) => expect(sentencesOf(older, newer)).toEqual([]));
});

function tree(): Schema {
  return object({ below: { type: "array", items: { $ref: "#/components/schemas/Tree" } } });
}

test("a break is accepted where the unreleased part of the changelog announces its operation", () => {
  const changes = breakingChanges(ofAnswer(object({ code: { type: "string" } })), ofAnswer(object({})));
  const changelog = (line: string, released = "") =>
    `# Changelog\n\n## [Unreleased]\n\n${line}\n\n## [1.0.0]\n\n${released}\n`;
  const announced = "- **Breaking:** `POST /client/v1/codes` no longer answers `code`.";
  expect(unannounced(changes, changelog(announced))).toEqual([]);
  expect(unannounced(changes, changelog("- `POST /client/v1/codes` is faster."))).toEqual([
    "`POST /client/v1/codes` the answer's field `code` is gone: a client that reads it fails",
  ]);
  expect(unannounced(changes, changelog("", announced))).toHaveLength(1);
});

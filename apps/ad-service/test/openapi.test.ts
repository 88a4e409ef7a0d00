import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { type ClientFixture, openClientFixture } from "./fixtures/client-fixture.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  requestBody?: { content: Record<string, { schema: object; example?: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

interface ApiDocument {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: object; schemas: Record<string, object> };
  webhooks: object;
}

let fixture: ClientFixture;
beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

describe.each(["client", "player", "operator"])("the OpenAPI document of the %s API", (api) => {
  let document: ApiDocument;
  let operations: { path: string; method: string; operation: Operation }[];
  beforeAll(async () => {
    document = (await (await fetch(`${fixture.address}/${api}/v1/openapi.json`)).json()) as ApiDocument;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  });

  test("is public, and its paths are those of its server's address", () => {
    expect(document).toMatchObject({ openapi: "3.1.1", servers: [{ url: `http://ads.test/${api}/v1` }] });
    expect(operations.length).toBeGreaterThan(4);
    for (const { path } of operations) expect(path).not.toContain("v1");
  });

  test("names and describes each operation, and its answer", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, method, operation } of operations) {
      const where = `${method} ${path}`;
      expect(operation.operationId, where).toMatch(/^[a-z][A-Za-z]+$/);
      expect(operation.summary, where).toMatch(/^[A-Z][a-z]+ [a-z ]+$/);
      expect(operation.description, where).toMatch(/^[A-Z].+\.$/);
      expect(Object.keys(operation.responses).filter((status) => Number(status) < 400).length, where).toBeGreaterThan(
        0,
      );
    }
  });

  test("gives an example of each body, and of each answer that publishers and players get", () => {
    for (const { path, method, operation } of operations) {
      const bodies = Object.entries(operation.requestBody?.content ?? {}).filter(([type]) => type.includes("json"));
      const answers = Object.entries(operation.responses).filter(([status]) => Number(status) < 300);
      const documented = api === "operator" ? [] : answers.flatMap(([, { content = {} }]) => Object.entries(content));
      for (const [type, media] of [...bodies, ...documented]) {
        expect(media, `${method} ${path} ${type}`).toSatisfy((one: object) => "example" in one || "examples" in one);
      }
    }
  });

  test("names the type of each body and answer, and has each type that it refers to", () => {
    for (const { path, method, operation } of operations) {
      const answers = Object.entries(operation.responses).filter(([status]) => Number(status) < 400);
      const parts = [operation.requestBody, ...answers.map(([, answer]) => answer)];
      for (const { schema } of parts.flatMap((part) => Object.values(part?.content ?? {})))
        expect(Object.keys(schema), `${method} ${path}`).not.toEqual(expect.arrayContaining(["properties"]));
    }
    const names = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, name = ""]) => name));
    expect(names.size).toBeGreaterThan(4);
    for (const name of names) {
      const type = name.replace("#/components/schemas/", "");
      expect(type).toMatch(/^[A-Z][A-Za-z]+$/);
      expect(document.components.schemas[type], name).toBeDefined();
    }
  });

  test("gives every refusal the error body", () => {
    expect(document.components.schemas.Error).toMatchObject({ required: ["error"] });
    for (const { operation } of operations) {
      const refused = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
      for (const [status, { content }] of refused) {
        expect(content, status).toEqual({ "application/json": { schema: { $ref: "#/components/schemas/Error" } } });
      }
    }
  });
});

test("the client API names the types that a generated client has", async () => {
  const document = (await (await fetch(`${fixture.address}/client/v1/openapi.json`)).json()) as ApiDocument;
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(clientTypes));
  expect(document.components.schemas.CreateCodeResponse).toMatchObject({
    required: ["code", "expires_in", "expires_at"],
    properties: { rewards: { $ref: "#/components/schemas/NamedRewards" } },
  });
  expect(document.components.schemas.ListEventsResponse).toMatchObject({
    properties: { events: { items: { $ref: "#/components/schemas/ListedEvent" } } },
  });
  expect(document.webhooks).toMatchObject({
    event: {
      post: {
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/WebhookEvent" } } } },
      },
    },
  });
});

const clientTypes = [
  "CreateCodeRequest",
  "CreateCodeResponse",
  "DescribeCodeResponse",
  "ListEventsResponse",
  "ListedEvent",
  "TestWebhookRequest",
  "TestWebhookResponse",
  "ListAttemptsResponse",
  "RedeliverEventResponse",
  "WebhookEvent",
  "EventType",
  "DeliveryState",
  "EndpointState",
  "NamedReward",
  "NamedRewards",
  "StatsFigures",
  "Error",
];

test.each([
  [true, 200],
  [false, 404],
])("with the API reference set to %s, /docs/ answers %i", async (hasApiReference, status) => {
  const other = await openAppFixture(fixture.database, { hasApiReference });
  onTestFinished(other.close);
  const answer = await fetch(`${other.address}/docs/`);
  const page = await answer.text();
  expect(answer.status).toBe(status);
  for (const api of ["client", "player", "operator"]) {
    expect(page.includes(`../${api}/v1/openapi.json`), api).toBe(hasApiReference);
  }
});

const queryOf: Readonly<Record<string, string>> = {
  saveReport: "?email=ann@example.com",
  mailSavedReport: "?email=ann@example.com",
  // Advice that needs a confirmation, such as on a tag whose server is out of reach, is not what is tested here.
  addVastTag: "?confirmed=true",
  draftCampaign: "?advertiser=unknown",
};

test("the operator API accepts the shape of each example in its document", async () => {
  const operatorToken = "an-operators-token-of-some-length";
  const server = await openAppFixture(fixture.database, { operatorToken });
  onTestFinished(server.close);
  const { paths } = (await (await fetch(`${server.address}/operator/v1/openapi.json`)).json()) as ApiDocument;
  const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
  const answered: Record<string, number> = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId = "", requestBody }] of Object.entries(methods)) {
      const example = requestBody?.content["application/json"]?.example;
      // The video would be fetched.
      if (!example || operationId === "addVideoByAddress") continue;
      const ofBots = path
        .replace("{botId}", fixture.bot.botId)
        .replace("{taskBotId}", "7000000009")
        .replace("{boughtCreativeId}", `bcr_${"0".repeat(32)}`)
        .replace("{requestId}", "mrq_2K18GkjhZUeUj");
      const url = ofBots.replaceAll(/\{\w+\}/g, "unknown");
      const body = JSON.stringify(example);
      const { status } = await fetch(`${server.address}/operator/v1${url}${queryOf[operationId] ?? ""}`, {
        method: method.toUpperCase(),
        headers,
        body,
      });
      answered[operationId] = status;
    }
  }
  expect(answered).toMatchObject({
    addBot: 201,
    updateBot: 200,
    addVastTag: 201,
    addCampaign: 404,
    updateAdvertiser: 404,
  });
  expect(Object.entries(answered).filter(([, status]) => status === 400 || status >= 500)).toEqual([]);
});

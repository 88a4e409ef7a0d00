import type { OpenAPIV3_1 } from "openapi-types";
import { z } from "zod";

/** Schemas that several operations share, by the name of their type: `EventType`. */
export type SharedSchemas = Readonly<Record<string, z.ZodType>>;

type Override = NonNullable<z.core.ToJSONSchemaParams["override"]>;
export type ApiDocument = OpenAPIV3_1.Document;
type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

export const MAIN_METHODS = ["get", "post", "put", "patch", "delete"] as const;

/**
 * An `override` of `z.toJSONSchema` for our documents. Each shared schema becomes a reference to its component. Answers may
 * gain fields, so that a client must not refuse unknown ones.
 */
export function overrideFor(shared: SharedSchemas): Override {
  const names = new Map(Object.entries(shared).map(([name, schema]) => [schema as z.core.$ZodType, name]));
  return ({ zodSchema, jsonSchema }) => {
    const name = names.get(zodSchema);
    if (name !== undefined) {
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.$ref = referenceTo(name);
      return;
    }
    // What zod cannot represent: a date is text in JSON, and an answer without a body is told by `z.undefined()`.
    const { def } = (zodSchema as z.core.$ZodTypes)._zod;
    if (def.type === "date") Object.assign(jsonSchema, { type: "string", format: "date-time" });
    if (def.type === "undefined") jsonSchema.type = "null";
    if (def.type === "object" && def.catchall === undefined) delete jsonSchema.additionalProperties;
  };
}

/** The components of shared schemas. Inside of them, the others are references. */
export function componentsOf(shared: SharedSchemas): Record<string, OpenAPIV3_1.SchemaObject> {
  const made = Object.entries(shared).map(([name, schema]) => {
    const { [name]: _self, ...others } = shared;
    return [name, jsonSchemaOf(schema, "output", others)];
  });
  return Object.fromEntries(made);
}

export function jsonSchemaOf(
  schema: z.ZodType,
  io: "input" | "output",
  shared: SharedSchemas = {},
): OpenAPIV3_1.SchemaObject {
  const { $schema: _dialect, ...made } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: overrideFor(shared),
  });
  return made as OpenAPIV3_1.SchemaObject;
}

/**
 * Moves the body and the answer of each operation to a component named after it, such as `CreateCodeRequest` and
 * `CreateCodeResponse`: a generated client has a type of this name. Changes the document.
 */
export function nameSchemas(document: ApiDocument): void {
  document.components ??= {};
  document.components.schemas ??= {};
  const { schemas } = document.components;
  const name = (type: string, media: OpenAPIV3_1.MediaTypeObject) => {
    const { schema } = media;
    if (schema === undefined || !hasStructure(schema)) return;
    const known = schemas[type];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas of the document would have the name ${type}`);
    schemas[type] = schema;
    media.schema = { $ref: referenceTo(type) };
  };
  for (const operations of Object.values(document.paths ?? {})) {
    for (const method of MAIN_METHODS) {
      const { operationId = "", requestBody, responses = {} } = operations?.[method] ?? {};
      const type = operationId.charAt(0).toUpperCase() + operationId.slice(1);
      for (const media of mediaOf(requestBody)) name(`${type}Request`, media);
      const successes = Object.entries(responses).filter(([status]) => Number(status) < 400);
      for (const [at, [status, answer]] of successes.entries())
        for (const media of mediaOf(answer)) name(`${type}Response${at === 0 ? "" : status}`, media);
    }
  }
}

function mediaOf(
  part: OpenAPIV3_1.RequestBodyObject | OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject | undefined,
): OpenAPIV3_1.MediaTypeObject[] {
  return part !== undefined && "content" in part ? Object.values(part.content ?? {}) : [];
}

/** Whether a type of its own says more than the schema itself: not for a file, nor for an answer of any shape. */
function hasStructure(schema: Schema): boolean {
  return ["properties", "oneOf", "anyOf", "items"].some((key) => key in schema);
}

export function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}

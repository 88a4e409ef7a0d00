import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it came. Ids are hex; `parentId` is "" for the first span of a trace. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** A receiver of OTLP over HTTP in protobuf, as a collector is. `bytes`: all bodies as they came. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const isTraces = request.url === "/v1/traces" && request.headers["content-type"] === "application/x-protobuf";
      if (!isTraces || request.headers["x-tenant"] !== "ads") return response.writeHead(400).end();
      const body = Buffer.concat(chunks);
      bodies.push(body);
      spans.push(...spansOf(body));
      return response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** opentelemetry-proto 1.7: ExportTraceServiceRequest, whose fields are named by their numbers. */
function spansOf(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((ofResource) => {
    const [resource = Buffer.alloc(0)] = messages(ofResource, 1);
    const service = String(attributesIn(resource, 1)["service.name"]);
    return messages(ofResource, 2).flatMap((ofScope) => messages(ofScope, 2).map((span) => spanOf(service, span)));
  });
}

function spanOf(service: string, span: Buffer): ReceivedSpan {
  const hex = (message: Buffer, field: number) => messages(message, field)[0]?.toString("hex") ?? "";
  return {
    service,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    name: messages(span, 5)[0]?.toString() ?? "",
    attributes: attributesIn(span, 9),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
  };
}

function attributesIn(message: Buffer, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [key = "", value = Buffer.alloc(0)] = [messages(pair, 1)[0]?.toString(), messages(pair, 2)[0]];
      const text = messages(value, 1)[0]?.toString();
      return [key, text ?? Number(fieldsOf(value).find(([number]) => number === 3)?.[1])];
    }),
  );
}

/** The length-delimited fields of a number: messages, bytes and texts. */
function messages(message: Buffer, field: number): Buffer[] {
  return fieldsOf(message).flatMap(([number, value]) => (number === field && Buffer.isBuffer(value) ? [value] : []));
}

/** The fields of a protobuf message, by their wire types: varint, 8 bytes, length-delimited, 4 bytes. */
function fieldsOf(message: Buffer): [number: number, value: Buffer | bigint][] {
  const fields: [number, Buffer | bigint][] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error("a varint is cut off");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number) => {
    at += length;
    if (at > message.length) throw new Error("a field is cut off");
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const key = Number(varint());
    const wireType = key & 7;
    if (wireType === 0) fields.push([key >> 3, varint()]);
    else if (wireType === 1) fields.push([key >> 3, bytes(8)]);
    else if (wireType === 2) fields.push([key >> 3, bytes(Number(varint()))]);
    else if (wireType === 5) fields.push([key >> 3, bytes(4)]);
    else throw new Error(`protobuf has no wire type ${wireType}`);
  }
  return fields;
}

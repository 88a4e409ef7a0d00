import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { forms } from "@intermission/operator-api/field-forms";
import { storableText } from "@intermission/postgres/storable-text";
import { z } from "zod";
import { type MediaStorage, readAtMost } from "../creatives/media-storage.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import type { PlannedFiling } from "./plan-filings.ts";

export interface SendDeps {
  requests: Pick<GuardedRequests, "guardedRequest">;
  media: Pick<MediaStorage, "open">;
  url: string;
  key: string;
  signal: AbortSignal;
}

/** `failed`: this record got no final answer; others may. `stopped`: the API would accept no other record now either. */
export type FilingOutcome =
  | { outcome: "filed"; erid: string | null }
  | { outcome: "refused" | "failed" | "stopped"; fault: string };

const MAX_ATTEMPTS = 5;
/** No attempt begins later, so that one record does not use up a run. */
const ATTEMPTS_MS = 60_000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
const REQUEST_MS = 20_000;
const UPLOAD_MS = 120_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** A file is held in memory. The API accepts 256 MB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_FAULT = 500;

/** A request of VK ORD's API. A medium is not sent as JSON. */
export function requestOf({ kind, externalId, body }: Pick<PlannedFiling, "kind" | "externalId" | "body">): {
  method: "PUT" | "POST";
  path: string;
  body: unknown;
} {
  const id = encodeURIComponent(externalId);
  switch (kind) {
    case "person":
    case "contract":
    case "pad":
      return { method: "PUT", path: `/v1/${kind}/${id}`, body };
    case "media":
      return { method: "PUT", path: `/v1/media/${id}`, body: null };
    case "creative":
      return { method: "PUT", path: `/v3/creative/${id}`, body };
    case "statistics":
      return { method: "POST", path: "/v3/statistics", body: { items: [body] } };
    default:
      return kind satisfies never;
  }
}

/** Files one record. A request may arrive twice, since it creates or updates. 429, 5xx and broken connections are tried again. */
export async function sendFiling(deps: SendDeps, filing: PlannedFiling): Promise<FilingOutcome> {
  const { method, path, body } = requestOf(filing);
  const content = filing.kind === "media" ? await fileOf(deps, filing) : jsonOf(body);
  if ("fault" in content) return content;
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt++) {
    const result = await deps.requests.guardedRequest({
      url: `${deps.url}${path}`,
      method,
      purpose: "ord",
      headers: { authorization: `Bearer ${deps.key}`, accept: "application/json", "content-type": content.type },
      body: content.bytes,
      maxBodyBytes: MAX_ANSWER_BYTES,
      totalTimeoutMs: filing.kind === "media" ? UPLOAD_MS : REQUEST_MS,
      signal: deps.signal,
    });
    if (!isTemporary(result)) return outcomeOf(filing.kind, result);
    const waitMs = waitOf(result, attempt);
    if (attempt === MAX_ATTEMPTS || performance.now() - startedAt + waitMs > ATTEMPTS_MS)
      return { outcome: "failed", fault: faultOf(result) };
    await wait(waitMs, undefined, { signal: deps.signal });
  }
}

function isTemporary(result: GuardedResult): boolean {
  if (result.outcome === "answered") return result.status === 429 || result.status >= 500 || !result.isWhole;
  return result.errorClass !== "blocked-address" && result.errorClass !== "redirect";
}

function waitOf({ retryAfter }: GuardedResult, attempt: number): number {
  const seconds = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return Math.min(seconds === undefined ? FIRST_WAIT_MS * 2 ** (attempt - 1) : seconds * 1000, MAX_WAIT_MS);
}

const marked = z.object({ erid: z.string().regex(forms.ERID) });

function outcomeOf(kind: PlannedFiling["kind"], result: GuardedResult): FilingOutcome {
  const fault = faultOf(result);
  if (result.outcome === "failed") return { outcome: "stopped", fault };
  const { status } = result;
  if (status === 401 || status === 403) return { outcome: "stopped", fault: `the key was refused: ${fault}` };
  // A medium never changes, and one that was uploaded before is answered 409 (v1-upload-media).
  if (kind === "media" && status === 409) return { outcome: "filed", erid: null };
  if (status >= 400) return { outcome: "refused", fault };
  if (kind !== "creative") return { outcome: "filed", erid: null };
  const { data } = marked.safeParse(jsonIn(result));
  return data === undefined
    ? { outcome: "refused", fault: `answered ${status} without an erid` }
    : { outcome: "filed", erid: data.erid };
}

const refusal = z.object({
  error: z.string().optional(),
  errors: z.array(z.object({ error: z.string() })).optional(),
});

function faultOf(result: GuardedResult): string {
  if (result.outcome === "failed") return shortened(`${result.errorClass}: ${result.detail}`);
  const { data } = refusal.safeParse(jsonIn(result));
  const sentences = [data?.error ?? [], ...(data?.errors ?? []).map(({ error }) => error)].flat().join("; ");
  return shortened(`${result.status}: ${sentences || result.text}`);
}

function shortened(text: string): string {
  return storableText(text.replace(/\s+/g, " ").trim(), MAX_FAULT) || "no reason";
}

function jsonIn({ body }: { body?: Uint8Array | undefined }): unknown {
  try {
    return body && JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

type Content = { type: string; bytes: Uint8Array } | { outcome: "refused" | "failed"; fault: string };

function jsonOf(body: unknown): Content {
  return { type: "application/json", bytes: Buffer.from(JSON.stringify(body)) };
}

/** As `multipart/form-data` with the part `media_file` (v1-upload-media). */
async function fileOf({ media }: SendDeps, { body: { fileName }, name }: PlannedFiling): Promise<Content> {
  let bytes: Uint8Array | undefined;
  try {
    const stored = await (await media.open(String(fileName)))?.read(undefined);
    bytes = stored && (await readAtMost(stored.body, MAX_FILE_BYTES + 1));
  } catch (error) {
    // Of the bucket or the disk: other records need no file.
    return { outcome: "failed", fault: shortened(`the file ${fileName} cannot be read now: ${String(error)}`) };
  }
  if (bytes === undefined) return { outcome: "refused", fault: `the file ${fileName} is gone: upload the video again` };
  if (bytes.byteLength > MAX_FILE_BYTES)
    return { outcome: "refused", fault: "the file has more than 64 MiB: upload a lighter one" };
  const boundary = randomUUID();
  const part = (head: string) => Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`);
  const file = `name="media_file"; filename="${fileName}"\r\ncontent-type: application/octet-stream`;
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  const parts = [part('name="description"'), Buffer.from(`${name}\r\n`), part(file), bytes, end];
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(parts) };
}

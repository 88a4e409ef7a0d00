import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { ProblemValues } from "@intermission/operator-api/problems";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { MAX_VIDEO_BYTES } from "./add-creative.ts";

/** Relative to `/operator/v1`. */
export const UPLOADS_PATH = "/uploads";
const FULL_PATH = `/operator/v1${UPLOADS_PATH}`;

/** Unfinished uploads are removed after this time. */
const ABANDONED_MS = 24 * 60 * 60_000;
/** Unfinished uploads: a person may try several files, and all of them together must not fill the disk. */
const MAX_OF_PERSON = 5;
const MAX_UPLOADS = 20;

/**
 * Uploads that go on where they were interrupted, by the tus protocol 1.0 (https://tus.io). Their bytes lie in a folder, which
 * is made with the first of them, until a video is made of them.
 */
export interface ResumableUploads {
  readonly folder: string;
  opened: Promise<OpenUploads> | undefined;
}

interface OpenUploads {
  tus: Server;
  store: FileStore;
  /** The person whose request tus handles. */
  person: AsyncLocalStorage<string>;
}

export function resumableUploads(folder: string): ResumableUploads {
  return { folder, opened: undefined };
}

/** Lets tus answer a request of a person. */
export async function handleUpload(
  uploads: ResumableUploads,
  { person, request, response }: { person: string; request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const opened = await open(uploads);
  await opened.person.run(person, () => opened.tus.handle(request, response));
}

export type FoundUpload =
  | { outcome: "finished"; bytes: Readable }
  | { outcome: "unfinished"; sent: number; byteLength: number | undefined }
  /** There is none, or it is another person's. */
  | { outcome: "unknown" };

export async function findUpload(
  uploads: ResumableUploads,
  { person, uploadId }: { person: string; uploadId: string },
): Promise<FoundUpload> {
  if (!isUploadOf(uploadId, person)) return { outcome: "unknown" };
  const { store } = await open(uploads);
  const upload = await store.getUpload(uploadId).catch(() => undefined);
  if (upload === undefined) return { outcome: "unknown" };
  if (upload.offset !== upload.size) return { outcome: "unfinished", sent: upload.offset, byteLength: upload.size };
  return { outcome: "finished", bytes: store.read(uploadId) };
}

export async function removeUpload(uploads: ResumableUploads, uploadId: string): Promise<void> {
  const { store } = await open(uploads);
  await store.remove(uploadId);
}

/** An upload's id begins with the id of its person: other callers cannot continue, read or remove it. */
export function isUploadOf(uploadId: string, person: string): boolean {
  return UPLOAD_ID.test(uploadId) && uploadId.startsWith(keyOf(person));
}

const UPLOAD_ID = /^[0-9a-f]{48}$/;

function keyOf(person: string): string {
  return createHash("sha256").update(person).digest("hex").slice(0, 16);
}

function open(uploads: ResumableUploads): Promise<OpenUploads> {
  uploads.opened ??= openFolder(uploads.folder).catch((error) => {
    uploads.opened = undefined;
    throw error;
  });
  return uploads.opened;
}

async function openFolder(folder: string): Promise<OpenUploads> {
  await mkdir(folder, { recursive: true });
  const store = new FileStore({ directory: folder, expirationPeriodInMilliseconds: ABANDONED_MS });
  const person = new AsyncLocalStorage<string>();
  const tus = new Server({
    path: FULL_PATH,
    datastore: store,
    maxSize: MAX_VIDEO_BYTES,
    // The console is of the same origin.
    allowedOrigins: () => false,
    namingFunction: () => `${keyOf(person.getStore() ?? "")}${randomBytes(16).toString("hex")}`,
    // Relative, and with the advertiser, by which the guard knows whose the upload is.
    generateUrl: ({ url }, { id }) => `${FULL_PATH}/${id}${addressOf(url).search}`,
    getFileIdFromRequest: ({ url }) => basename(addressOf(url).pathname),
    async onUploadCreate() {
      // Another node may remove one at the same moment.
      await tus.cleanUpExpiredUploads().catch(() => {});
      const unfinished = (await readdir(folder)).filter((name) => UPLOAD_ID.test(name));
      const own = unfinished.filter((id) => isUploadOf(id, person.getStore() ?? ""));
      if (own.length < MAX_OF_PERSON && unfinished.length < MAX_UPLOADS) return {};
      throw tooManyUploads({ own: String(own.length), all: String(unfinished.length) });
    },
  });
  return { tus, store, person };
}

/** As every refusal of the operator's API: tus writes the body of its errors as it is. */
function tooManyUploads(values: ProblemValues<"TOO_MANY_UPLOADS">): Error {
  const message = `${values.own} uploads of yours, and ${values.all} of all people, are unfinished: finish one, or wait a day until they are removed`;
  const body = JSON.stringify({ error: { code: "TOO_MANY_UPLOADS", message, details: { values } } });
  return Object.assign(new Error(message), { status_code: 429, body });
}

function addressOf(url: string): URL {
  return new URL(url, "http://ads.invalid");
}

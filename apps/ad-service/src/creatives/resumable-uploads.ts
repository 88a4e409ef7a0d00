import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, open as openFile, readdir, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import type { UnfinishedUpload } from "@intermission/operator-api/creatives";
import type { ProblemValues } from "@intermission/operator-api/problems";
import { type Database, statement } from "@intermission/postgres/open-database";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import pLimit from "p-limit";
import { type AddCreativeOutcome, MAX_VIDEO_BYTES } from "./add-creative.ts";
import { missingAsUndefined } from "./media-storage.ts";

/** Relative to `/operator/v1`. */
export const UPLOADS_PATH = "/uploads";
const FULL_PATH = `/operator/v1${UPLOADS_PATH}`;

/** Unfinished uploads are removed after this time. */
const ABANDONED_MS = 24 * 60 * 60_000;
/** Unfinished uploads: a person may try several files, and all of them together must not fill the disk. */
const MAX_OF_PERSON = 5;
const MAX_UPLOADS = 20;
const MAX_NAME_LENGTH = 1024;

/**
 * Uploads that go on where they were interrupted, by the tus protocol 1.0 (https://tus.io). Their bytes lie in a folder, which
 * is made with the first of them, until a video is made of them.
 */
export interface ResumableUploads {
  readonly database: Database;
  readonly folder: string;
  opened: Promise<OpenUploads> | undefined;
  /** Uploads that this node makes creatives of: a request that is repeated meanwhile gets the same answer. */
  readonly beingAdded: Map<string, Promise<AddCreativeOutcome>>;
}

interface OpenUploads {
  tus: Server;
  store: FileStore;
  /** The person whose request tus handles. */
  person: AsyncLocalStorage<string>;
}

export function resumableUploads(database: Database, folder: string): ResumableUploads {
  return { database, folder, opened: undefined, beingAdded: new Map() };
}

/** Lets tus answer a request of a person. */
export async function handleUpload(
  uploads: ResumableUploads,
  { person, request, response }: { person: string; request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const opened = await open(uploads);
  await opened.person.run(person, () => opened.tus.handle(request, response));
}

type FoundUpload =
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
  // Once it is open, its bytes can be read to the end, also if another request removes it meanwhile.
  const file = await openFile(join(uploads.folder, uploadId)).catch(missingAsUndefined);
  if (file === undefined) return { outcome: "unknown" };
  return { outcome: "finished", bytes: file.createReadStream() };
}

/** A person's uploads that no creative was made of. */
export async function listUploads(uploads: ResumableUploads, person: string): Promise<UnfinishedUpload[]> {
  const { store } = await open(uploads);
  const own = (await readdir(uploads.folder)).filter((name) => isUploadOf(name, person));
  // One that is finished or removed meanwhile is left out.
  const found = await Promise.all(own.map((id) => store.getUpload(id).catch(() => undefined)));
  return found
    .filter((upload) => upload !== undefined)
    .map(({ id, metadata, offset, size }) => ({
      uploadId: id,
      name: metadata?.filename?.slice(0, MAX_NAME_LENGTH) ?? null,
      sent: offset,
      byteLength: size ?? offset,
    }));
}

/** Removing it twice changes nothing. */
export async function removeUpload(uploads: ResumableUploads, uploadId: string): Promise<void> {
  const { store } = await open(uploads);
  await store.remove(uploadId).catch(async (error: unknown) => {
    if ((await stat(join(uploads.folder, uploadId)).catch(missingAsUndefined)) !== undefined) throw error;
  });
}

/** Requests that add the same upload in the same way while the first one is under way share its outcome. */
export async function addOnce(
  { beingAdded }: ResumableUploads,
  key: string,
  add: () => Promise<AddCreativeOutcome>,
): Promise<AddCreativeOutcome> {
  const underWay = beingAdded.get(key);
  if (underWay !== undefined) return underWay;
  const adding = add().finally(() => beingAdded.delete(key));
  beingAdded.set(key, adding);
  return adding;
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
  uploads.opened ??= openFolder(uploads).catch((error) => {
    uploads.opened = undefined;
    throw error;
  });
  return uploads.opened;
}

// Of all nodes: the folder may be shared.
const lock = statement<never>(
  "uploads.lock",
  "select pg_advisory_xact_lock(hashtextextended('resumable uploads', 0))::text",
);

async function openFolder({ database, folder }: ResumableUploads): Promise<OpenUploads> {
  await mkdir(folder, { recursive: true });
  const store = new FileStore({ directory: folder, expirationPeriodInMilliseconds: ABANDONED_MS });
  const person = new AsyncLocalStorage<string>();
  // Those who wait for the lock hold one connection of this node.
  const turn = pLimit(1);
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
    async onUploadCreate(_request, upload) {
      // Another node may remove one at the same moment.
      await tus.cleanUpExpiredUploads().catch(() => {});
      const caller = person.getStore() ?? "";
      await turn(() =>
        database.transaction(async (tx) => {
          await tx.run(lock, []);
          const unfinished = (await readdir(folder)).filter((name) => UPLOAD_ID.test(name));
          const own = unfinished.filter((id) => isUploadOf(id, caller));
          if (own.length >= MAX_OF_PERSON || unfinished.length >= MAX_UPLOADS)
            throw tooManyUploads({ own: String(own.length), all: String(unfinished.length) });
          // tus does it once more, after the lock: the one that comes next has to count this one.
          await store.create(upload);
        }),
      );
      return {};
    },
  });
  return { tus, store, person };
}

/** As every refusal of the operator's API: tus writes the body of its errors as it is. */
function tooManyUploads(values: ProblemValues<"TOO_MANY_UPLOADS">): Error {
  const message = `${values.own} uploads of yours, and ${values.all} of all people, are unfinished: finish or remove one, or wait a day until they are removed`;
  const body = JSON.stringify({ error: { code: "TOO_MANY_UPLOADS", message, details: { values } } });
  return Object.assign(new Error(message), { status_code: 429, body });
}

function addressOf(url: string): URL {
  return new URL(url, "http://ads.invalid");
}

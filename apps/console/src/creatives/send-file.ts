import type { Upload } from "tus-js-client";
import { type CallError, jsonIn, refusalOf } from "../operator/call-operator.ts";

/** How much is sent at once: what a lost connection costs at most. */
const CHUNK_BYTES = 8 * 1024 * 1024;
/** Once a proxy has refused a part as too large; nginx takes 1 MB unless it is configured. */
const SMALL_CHUNK_BYTES = 512 * 1024;
const RETRY_MS = [0, 1000, 3000, 5000, 10_000, 20_000];
/** How long, and how often without any progress, an upload waits for a connection. */
const OFFLINE_MS = 10 * 60_000;
const MAX_OFFLINE = 10;

/** Why an upload failed without an answer of the ad service. */
type UploadFault = "offline" | "fileChanged" | "proxyLimit" | "proxyMethod" | "gateway" | "otherAnswer";

export class UploadError extends Error {
  readonly fault: UploadFault;
  constructor(fault: UploadFault) {
    super(fault);
    this.fault = fault;
  }
}

interface SendOptions {
  endpoint: string;
  /** Aborted: nothing more is sent. */
  signal: AbortSignal;
  onProgress: (sent: number) => void;
  onOffline: () => void;
}

interface Sending {
  id: Promise<string>;
  /** Removes from the server what was sent. */
  remove: () => Promise<void>;
}

/**
 * Sends a file by tus. It is tried again while that may help, and goes on where it was interrupted, also when the same file is
 * sent again later. The promise is rejected with an `UploadError`, a `CallError`, or the reason of the signal. A failed upload
 * that cannot go on is removed.
 */
export async function sendFile(file: File, { endpoint, signal, onProgress, onOffline }: SendOptions): Promise<Sending> {
  // Since the server has last received anything.
  const tries = { failures: 0, offlines: 0 };
  const onReceived = () => Object.assign(tries, { failures: 0, offlines: 0 });
  const { upload, attempt } = await openUpload(file, { endpoint, onProgress, onReceived });
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  signal.addEventListener("abort", () => {
    void upload.abort().catch(() => {});
    stopped.reject(signal.reason);
  });

  async function send(): Promise<string> {
    const [previous] = await upload.findPreviousUploads();
    if (previous !== undefined) upload.resumeFromPreviousUpload(previous);
    for (;;) {
      const failure = await Promise.race([attempt(), stopped.promise]);
      if (failure === undefined) return idOf(upload);
      if (!(await isReadable(file))) throw new UploadError("fileChanged");
      const status = failure.answer?.status ?? 0;
      if (status === 0 && !navigator.onLine && tries.offlines < MAX_OFFLINE) {
        tries.offlines += 1;
        onOffline();
        if (!(await isOnlineAgain(signal))) throw new UploadError("offline");
        continue;
      }
      if (status === 413 && upload.options.chunkSize === CHUNK_BYTES) {
        upload.options.chunkSize = SMALL_CHUNK_BYTES;
        continue;
      }
      const delayMs = RETRY_MS[tries.failures];
      if (!mayPass(status) || delayMs === undefined) throw await errorOf(failure);
      tries.failures += 1;
      await Promise.race([new Promise((resolve) => setTimeout(resolve, delayMs)), stopped.promise]);
    }
  }
  const remove = () => upload.abort(true).catch(() => {});
  const id = send().catch(async (error: unknown) => {
    if (error instanceof UploadError && error.fault !== "offline" && error.fault !== "gateway") await remove();
    throw error;
  });
  return { id, remove };
}

/** Why an attempt ended; without an answer, the connection failed. */
interface Failure {
  error: Error;
  answer: { status: number; body: string } | undefined;
}

interface OpenUpload {
  upload: Upload;
  /** Sends what the server does not have. Undefined: it has everything. */
  attempt: () => Promise<Failure | undefined>;
}

async function openUpload(
  file: File,
  { endpoint, onProgress, onReceived }: Pick<SendOptions, "endpoint" | "onProgress"> & { onReceived: () => void },
): Promise<OpenUpload> {
  // Loaded with the first upload.
  const { Upload } = await import("tus-js-client");
  let [received, isBeginning] = [0, true];
  const hasReceived = (offset: number) => {
    if (offset > received) onReceived();
    received = Math.max(received, offset);
  };
  let answer: Failure["answer"];
  let knownUrl: string | null = null;
  let end: (error?: Error) => void = () => {};
  const upload = new Upload(file, {
    endpoint,
    metadata: { filename: file.name },
    chunkSize: CHUNK_BYTES,
    // `sendFile` tries again.
    retryDelays: null,
    removeFingerprintOnSuccess: true,
    onUploadUrlAvailable: () => {
      knownUrl = upload.url;
    },
    onBeforeRequest: () => {
      answer = undefined;
    },
    onAfterResponse: (request, response) => {
      answer = { status: response.getStatus(), body: response.getBody() };
      // tus would begin another upload.
      if (request.getMethod() === "HEAD" && (answer.status >= 500 || answer.status === 405))
        throw new Error("no offset");
    },
    onProgress: (sent) => {
      // An attempt begins with what the server has.
      if (isBeginning) hasReceived(sent);
      isBeginning = false;
      onProgress(sent);
    },
    onChunkComplete: (_size, accepted) => hasReceived(accepted),
    onError: (error) => end(error),
    onSuccess: () => end(),
  });
  const attempt = () =>
    new Promise<Failure | undefined>((resolve) => {
      end = (error) => resolve(error && { error, answer });
      isBeginning = true;
      answer = undefined;
      if (knownUrl !== null) upload.url = knownUrl;
      upload.start();
    });
  return { upload, attempt };
}

function idOf({ url }: Upload): string {
  return new URL(url ?? "", location.href).pathname.split("/").at(-1) ?? "";
}

/** Browsers refuse to read a file that has changed since it was chosen. */
function isReadable(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}

function isOnlineAgain(signal: AbortSignal): Promise<boolean> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(OFFLINE_MS)]);
  return new Promise((resolve, reject) => {
    if (navigator.onLine) resolve(true);
    window.addEventListener("online", () => resolve(true), { once: true, signal: ended });
    ended.addEventListener("abort", () => (signal.aborted ? reject(signal.reason) : resolve(false)));
  });
}

/** Whether the same request may be answered otherwise in a moment. 409: the server has other bytes than this page believes. */
function mayPass(status: number): boolean {
  return status === 0 || (status >= 500 && status !== 507) || status === 409 || status === 423;
}

async function errorOf({ error, answer }: Failure): Promise<CallError | UploadError> {
  const { status, body } = answer ?? { status: 0, body: "" };
  const refusal = await refusalOf({ status, statusText: error.message }, jsonIn(body));
  if (answer === undefined || refusal.code !== "UNREACHABLE") return refusal;
  return new UploadError(faultOfStatus(status));
}

function faultOfStatus(status: number): UploadFault {
  if (status === 413) return "proxyLimit";
  if (status === 405 || status === 501) return "proxyMethod";
  return status === 502 || status === 503 || status === 504 ? "gateway" : "otherAnswer";
}

import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { DetailedError } from "tus-js-client";
import { callOperator, jsonIn, refusalOf } from "../operator/call-operator.ts";
import { useErrorText } from "../ui/answer-view.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

export type UploadState =
  | { step: "idle" }
  | { step: "sending"; name: string; sent: number; all: number }
  /** The server inspects, converts and stores the video. */
  | { step: "checking"; name: string }
  | { step: "failed"; name: string; message: string };

/** The server's limit. */
const MAX_BYTES = 100 * 1024 * 1024;
/** How much is sent at once: what a lost connection costs at most. */
const CHUNK_BYTES = 8 * 1024 * 1024;
const RETRY_MS = [0, 1000, 3000, 5000, 10_000, 20_000];

interface UploadOptions {
  /** Whose the video is; undefined: the operator's. */
  advertiser: string | undefined;
  onAdded: (creative: Creative) => void;
}

/** Uploads a video by tus: it goes on where it was interrupted, also when the same file is chosen again after the page was closed. */
export function useUpload({ advertiser, onAdded }: UploadOptions) {
  const [state, setState] = useState<UploadState>({ step: "idle" });
  const queries = useQueryClient();
  const textOf = useErrorText();
  const { tooLarge } = useWords(creativeWords);
  const stop = useRef<Stop>(() => {});
  useEffect(() => () => stop.current({ isRemoved: false }), []);
  const query = { ...(advertiser !== undefined && { advertiser }) };

  async function send(file: File): Promise<void> {
    const { name } = file;
    if (file.size > MAX_BYTES) {
      setState({ step: "failed", name, message: tooLarge });
      return;
    }
    setState({ step: "sending", name, sent: 0, all: file.size });
    try {
      const uploadId = await sendBytes(file, {
        endpoint: `/operator/v1/uploads?${new URLSearchParams(query)}`,
        onProgress: (sent) => setState({ step: "sending", name, sent, all: file.size }),
        onStart: (abort) => {
          stop.current = abort;
        },
      });
      setState({ step: "checking", name });
      const added = await callOperator(creativeRoutes.addUploadedVideo, { query, body: { uploadId, name } });
      await queries.invalidateQueries();
      setState({ step: "idle" });
      onAdded(added);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      setState({ step: "failed", name, message: textOf(error) });
    }
  }
  return {
    state,
    send: (file: File) => void send(file),
    cancel: () => {
      stop.current({ isRemoved: true });
      setState({ step: "idle" });
    },
  };
}

interface SendOptions {
  endpoint: string;
  onProgress: (sent: number) => void;
  onStart: (stop: Stop) => void;
}

/** Stops an upload. What was sent is removed, or stays on the server for a day. */
type Stop = (what: { isRemoved: boolean }) => void;

/** Returns the id of the finished upload. */
async function sendBytes(file: File, { endpoint, onProgress, onStart }: SendOptions): Promise<string> {
  // Loaded with the first upload.
  const { Upload } = await import("tus-js-client");
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint,
      chunkSize: CHUNK_BYTES,
      retryDelays: RETRY_MS,
      removeFingerprintOnSuccess: true,
      onProgress,
      onError: (error) => void failureOf(error).then(reject),
      onSuccess: () => resolve(new URL(upload.url ?? "", location.href).pathname.split("/").at(-1) ?? ""),
    });
    onStart(({ isRemoved }) => void upload.abort(isRemoved).catch(() => {}));
    void upload.findPreviousUploads().then(([previous]) => {
      if (previous !== undefined) upload.resumeFromPreviousUpload(previous);
      upload.start();
    }, reject);
  });
}

/** Without an answer, the server is unreachable. */
async function failureOf(error: Error | DetailedError): Promise<Error> {
  const answer = "originalResponse" in error ? error.originalResponse : null;
  return refusalOf({ status: answer?.getStatus() ?? 0, statusText: error.message }, jsonIn(answer?.getBody() ?? ""));
}

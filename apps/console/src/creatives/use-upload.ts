import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useErrorText } from "../ui/answer-view.tsx";
import { useWords } from "../words/word-table.ts";
import { sendFile, UploadError } from "./send-file.ts";
import { creativeWords } from "./words.ts";

export type UploadState =
  | { step: "idle" }
  /** `isOffline`: it goes on once there is a connection. */
  | { step: "sending"; name: string; sent: number; all: number; isOffline: boolean }
  /** The server inspects, converts and stores the video. */
  | { step: "checking"; name: string }
  | { step: "failed"; name: string; message: string };

/** The server's limit. */
const MAX_BYTES = 100 * 1024 * 1024;

interface UploadOptions {
  /** Whose the video is; undefined: the operator's. */
  advertiser: string | undefined;
  /** How long a picture is shown. */
  pictureSeconds: number;
  onAdded: (creative: Creative) => void;
}

/** Uploads a video by tus: it goes on where it was interrupted, also when the same file is chosen again after the page was closed. */
export function useUpload({ advertiser, pictureSeconds, onAdded }: UploadOptions) {
  const [state, setState] = useState<UploadState>({ step: "idle" });
  const queries = useQueryClient();
  const textOf = useErrorText();
  const { tooLarge, uploadFaults } = useWords(creativeWords);
  const underWay = useRef<{ stop: () => void; remove: () => Promise<void> }>(undefined);
  useEffect(() => () => underWay.current?.stop(), []);
  const query = { ...(advertiser !== undefined && { advertiser }) };
  const readList = () => queries.invalidateQueries({ queryKey: [creativeRoutes.listUploads.path] });

  async function send(file: File): Promise<void> {
    const { name } = file;
    if (file.size > MAX_BYTES) {
      setState({ step: "failed", name, message: tooLarge });
      return;
    }
    const stopping = new AbortController();
    const { signal } = stopping;
    let sent = 0;
    const show = (isOffline: boolean) => {
      if (!signal.aborted) setState({ step: "sending", name, sent, all: file.size, isOffline });
    };
    show(false);
    underWay.current = { stop: () => stopping.abort(), remove: async () => {} };
    try {
      const { id, remove } = await sendFile(file, {
        endpoint: `/operator/v1/uploads?${new URLSearchParams(query)}`,
        signal,
        onProgress: (bytes) => {
          sent = bytes;
          show(false);
        },
        onOffline: () => show(true),
      });
      underWay.current.remove = remove;
      const uploadId = await id;
      setState({ step: "checking", name });
      const added = await callOperator(creativeRoutes.addUploadedVideo, {
        query: { ...query, pictureSeconds },
        body: { uploadId, name },
      });
      await queries.invalidateQueries();
      setState({ step: "idle" });
      onAdded(added);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      setState({
        step: "failed",
        name,
        message: error instanceof UploadError ? uploadFaults[error.fault] : textOf(error),
      });
      await readList();
    }
  }
  return {
    state,
    send: (file: File) => void send(file),
    /** What was sent is removed. Leaving the page keeps it on the server for a day. */
    cancel: () => {
      underWay.current?.stop();
      void underWay.current?.remove().then(readList);
      setState({ step: "idle" });
    },
  };
}

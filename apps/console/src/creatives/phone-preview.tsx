import { type AdPreviewMessage, readAdPreviewMessage } from "@intermission/ad-core/ad-preview";
import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { useEffect, useRef } from "react";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";
import "./phone-preview.css";

/** The mini-app's own player with an ad, in the frame of a phone. It opens no view: nothing is counted. */
export function PhonePreview({ ad }: { ad: AdForPlayer }) {
  const words = useWords(creativeWords);
  const frame = useRef<HTMLIFrameElement>(null);
  // As text, so that an equal ad of a later answer does not start the player again.
  const written = JSON.stringify(ad);
  useEffect(() => {
    const send = () => {
      const message: AdPreviewMessage = { kind: "ad-preview", ad: JSON.parse(written) };
      frame.current?.contentWindow?.postMessage(message, location.origin);
    };
    const onMessage = (message: MessageEvent) => {
      if (message.source !== frame.current?.contentWindow) return;
      const read = readAdPreviewMessage(message, location.origin);
      if (read?.kind === "ad-preview-ready") send();
      if (read?.kind !== "ad-preview-key") return;
      const { key, code } = read;
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true }));
    };
    window.addEventListener("message", onMessage);
    // For a frame that was ready before; one that is not yet says so.
    send();
    return () => window.removeEventListener("message", onMessage);
  }, [written]);
  return (
    <figure className="phone">
      <div className="phone-frame">
        <iframe ref={frame} src="/app/preview" title={words.preview} allow="autoplay" />
      </div>
      <figcaption className="hint">{words.previewHint}</figcaption>
    </figure>
  );
}

import { pictureSeconds } from "@intermission/operator-api/creatives";
import { useNavigate } from "@tanstack/react-router";
import { type DragEvent, useEffect, useState } from "react";
import { AdvertiserPicker } from "../session/advertiser-picker.tsx";
import { usePerson } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { FileButton } from "../ui/file-button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { UnfinishedUploads } from "./unfinished-uploads.tsx";
import { type UploadState, useUpload } from "./use-upload.ts";
import { creativeWords } from "./words.ts";

const FILE_TYPES = "video/*,.mp4,.mov,.webm,.mkv,.m4v,image/jpeg,image/png,image/webp";

const pictureTimes = [pictureSeconds.min, pictureSeconds.usual, 15, 20, pictureSeconds.max];

/** A video or a picture is dropped here or chosen, and is uploaded at once; then its page opens, with the player. */
export function UploadPanel() {
  const words = useWords(creativeWords);
  const formats = useFormats();
  const person = usePerson();
  const navigate = useNavigate();
  const [owner, setOwner] = useState<string>();
  const [seconds, setSeconds] = useState<number>(pictureSeconds.usual);
  const [isOver, setOver] = useState(false);
  const upload = useUpload({
    advertiser: person.advertiserId ?? owner,
    pictureSeconds: seconds,
    onAdded: ({ creativeId }) => void navigate({ to: "/creatives/$creativeId", params: { creativeId } }),
  });
  const notice = useNotice();
  useEffect(() => {
    // Dropped beside its place, a file would be opened by the browser instead of this page.
    const ignore = (event: Event) => event.preventDefault();
    const events = ["dragover", "drop"] as const;
    for (const event of events) window.addEventListener(event, ignore);
    return () => {
      for (const event of events) window.removeEventListener(event, ignore);
    };
  }, []);
  const isIdle = upload.state.step === "idle" || upload.state.step === "failed";
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file, another] = event.dataTransfer.files;
    if (file === undefined || !isIdle) return;
    if (another === undefined) upload.send(file);
    else notice({ text: words.oneAtATime, look: "failed" });
  };
  return (
    <section
      className={`drop ${isOver ? "drop-over" : ""}`}
      aria-label={words.upload}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      {isIdle && (
        <div className="row">
          {person.advertiserId === null && (
            <AdvertiserPicker isId label={words.whose} value={owner} all={words.operators} onChange={setOwner} />
          )}
          <FileButton accept={FILE_TYPES} look="primary" onFile={upload.send}>
            {words.chooseVideo}
          </FileButton>
          <span className="secondary">{words.orDrop}</span>
          <label className="secondary">
            {words.pictureShownFor}{" "}
            <select value={seconds} onChange={({ target }) => setSeconds(Number(target.value))}>
              {pictureTimes.map((time) => (
                <option key={time} value={time}>
                  {formats.seconds(time)}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <Progress state={upload.state} onCancel={upload.cancel} />
      {isIdle && <UnfinishedUploads />}
    </section>
  );
}

function Progress({ state, onCancel }: { state: UploadState; onCancel: () => void }) {
  const words = useWords(creativeWords);
  const { bytes } = useFormats();
  switch (state.step) {
    case "idle":
      return null;
    case "failed":
      return (
        <p className="fault" role="alert">
          {words.uploadFailed({ file: state.name, why: state.message })}
        </p>
      );
    case "checking":
      return (
        <p role="status">
          <progress aria-label={words.checking(state.name)} /> {words.checking(state.name)}
        </p>
      );
    case "sending":
      return (
        <div className="row">
          <progress aria-label={words.sending(state.name)} value={state.sent} max={state.all} />
          <span>{`${words.sending(state.name)} ${bytes(state.sent)} / ${bytes(state.all)}`}</span>
          {state.isOffline && <span role="status">{words.uploadOffline}</span>}
          <Button onClick={onCancel}>{words.stopUpload}</Button>
        </div>
      );
    default:
      return state satisfies never;
  }
}

import { type FileHandle, open } from "node:fs/promises";
import { type FileFault, type FileWord, fileFault } from "@intermission/operator-api/file-faults";
import type { Container } from "./ffmpeg.ts";
import { checkMp4 } from "./inspect-mp4.ts";
import { otherKindOf, pictureKindOf } from "./other-files.ts";
import { endOfSegment } from "./webm-segment.ts";

/** `end`: players ignore what stands behind it. `isVideo`: it may be a video in another container, which its owner can convert. */
type DetectedContainer =
  | { outcome: "detected"; container: Container; end: number }
  | { outcome: "refused"; fault: FileFault; isVideo: boolean };

const HEAD_BYTES = 4096;
const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
/** An MP4 or QuickTime file may begin with any of these boxes; MP4 begins with `ftyp`, old QuickTime files do not. */
const FIRST_BOXES = ["ftyp", "moov", "mdat", "free", "skip", "wide", "styp"];

/** Files that reference other files: a program that follows them reads, or publishes, files of this machine. */
const playlists: readonly [start: RegExp, name: FileWord][] = [
  [/^#EXTM3U/i, "an HLS playlist"],
  [/^(ffconcat\b|#?\s*file\s)/i, "a list of files"],
  [/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<(MPD|SmoothStreamingMedia)\b/i, "a streaming manifest"],
  [/^(<\?xml[^>]*>\s*)?<(smil|asx|playlist)\b/i, "a playlist"],
  [/^(<svg|<\?xml)/i, "an XML document"],
  [/^v=0\s/, "a session description (SDP)"],
  [/^# mpv EDL/i, "an edit list"],
  [/^\[(playlist|reference|InternetShortcut)\]/i, "a playlist"],
  [/^(https?|rtsp|rtmp|file|concat|subfile):/i, "a list of addresses"],
];

/** Detects a file's container by its bytes, not its name, before any program opens it. */
export async function detectContainer(path: string): Promise<DetectedContainer> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.subarray(0, 4).equals(EBML)) return await webmOf(head, file, size);
    const picture = pictureKindOf(head);
    if (picture !== undefined) return refused(fileFault("FILE_IS_OTHER", { kind: picture }));
    if (FIRST_BOXES.includes(head.toString("latin1", 4, 8))) {
      const checked = await checkMp4(file, size);
      return checked.outcome === "refused"
        ? refused(checked.fault)
        : { outcome: "detected", container: "mp4", end: checked.end };
    }
    return describeOther(head);
  } finally {
    await file.close();
  }
}

/** https://www.rfc-editor.org/rfc/rfc8794#section-11.2.6: the DocType is in the first element. */
async function webmOf(head: Buffer, file: FileHandle, byteLength: number): Promise<DetectedContainer> {
  const at = head.indexOf(Buffer.from([0x42, 0x82]));
  const length = at < 0 ? 0 : head.readUInt8(at + 2) & 0x7f;
  const docType = head.toString("latin1", at + 3, at + 3 + length).replace(/\0+$/, "");
  if (!["webm", "matroska"].includes(docType)) return refused(fileFault("FILE_UNREADABLE"));
  const end = (await endOfSegment(file)) ?? byteLength;
  return end > byteLength ? refused(fileFault("FILE_TRUNCATED")) : { outcome: "detected", container: "webm", end };
}

function describeOther(head: Buffer): DetectedContainer {
  const text = head.toString("utf8").replace(/^\ufeff?\s*/, "");
  const playlist = playlists.find(([start]) => start.test(text));
  if (playlist) return refused(fileFault("FILE_IS_OTHER", { kind: playlist[1] }));
  const other = otherKindOf(head);
  if (other !== undefined) return refused(fileFault("FILE_IS_OTHER", { kind: other }));
  if (!head.includes(0)) return refused(fileFault("FILE_NO_VIDEO"));
  return { outcome: "refused", fault: fileFault("FILE_UNREADABLE"), isVideo: true };
}

function refused(fault: FileFault): DetectedContainer {
  return { outcome: "refused", fault, isVideo: false };
}

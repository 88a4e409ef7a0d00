/** Which side of a stored picture is the upper one, as Exif counts them: 1 is the first row, and 8 the last of its values. */
const ORIENTATION_TAG = 0x0112;
const SHORT = 3;
const MAX_ENTRIES = 512;

/** 1 where Exif data say nothing about it, or cannot be read. */
export function orientationIn(exif: Buffer): number {
  const order = exif.toString("latin1", 0, 2);
  if (exif.length < 14 || (order !== "II" && order !== "MM")) return 1;
  const number = (at: number, bytes: 2 | 4) => {
    if (at + bytes > exif.length) return 0;
    return order === "II" ? exif.readUIntLE(at, bytes) : exif.readUIntBE(at, bytes);
  };
  const directory = number(4, 4);
  const entries = Math.min(number(directory, 2), MAX_ENTRIES);
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + entry * 12;
    if (number(at, 2) !== ORIENTATION_TAG || number(at + 2, 2) !== SHORT) continue;
    const orientation = number(at + 8, 2);
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  }
  return 1;
}

/** Exif data that say this and nothing else. */
export function exifWith(orientation: number): Buffer {
  const exif = Buffer.alloc(26);
  exif.write("MM\0*", "latin1");
  exif.writeUInt32BE(8, 4);
  exif.writeUInt16BE(1, 8);
  exif.writeUInt16BE(ORIENTATION_TAG, 10);
  exif.writeUInt16BE(SHORT, 12);
  exif.writeUInt32BE(1, 14);
  exif.writeUInt16BE(orientation, 18);
  return exif;
}

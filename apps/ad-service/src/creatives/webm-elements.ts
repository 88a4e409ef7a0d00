export interface Element {
  id: number;
  from: number;
  contentFrom: number;
  /** Of one whose length is unknown, the end of what it is in. */
  to: number;
  isOfKnownLength: boolean;
}

export interface ElementReader {
  /** Fewer bytes at the end of the file. */
  read: (from: number, length: number) => Promise<Buffer>;
  /** How many have been read. */
  elements: number;
}

const MAX_ELEMENTS = 500_000;
const MAX_READ_BYTES = 1024 * 1024;

/** Its structure cannot be read. */
export class Unreadable extends Error {}

export async function* childrenOf(reader: ElementReader, from: number, to: number): AsyncGenerator<Element> {
  for (let at = from; at < to; ) {
    if (++reader.elements > MAX_ELEMENTS) throw new Unreadable();
    const element = await readElement(reader, at, to);
    if (element === undefined) {
      // Behind the last element, a file may have bytes that are none: the caller cuts them off.
      if (from === 0) return;
      throw new Unreadable();
    }
    yield element;
    at = element.to;
  }
}

async function readElement({ read }: ElementReader, from: number, end: number): Promise<Element | undefined> {
  const head = await read(from, Math.min(12, end - from));
  const idLength = lengthOfNumber(head, 0);
  const sizeLength = lengthOfNumber(head, idLength);
  if (idLength > 4 || sizeLength > 8 || idLength + sizeLength > head.length) return undefined;
  const contentFrom = from + idLength + sizeLength;
  let size = (head[idLength] ?? 0) & (0xff >> sizeLength);
  let isOfKnownLength = size !== 0xff >> sizeLength;
  for (const byte of head.subarray(idLength + 1, idLength + sizeLength)) {
    size = size * 256 + byte;
    isOfKnownLength ||= byte !== 0xff;
  }
  const to = isOfKnownLength ? contentFrom + size : end;
  return to > end ? undefined : { id: head.readUIntBE(0, idLength), from, contentFrom, to, isOfKnownLength };
}

/** How many bytes an id or a size has, by its first bits: 1 to 8; 9 if there is none. */
export function lengthOfNumber(bytes: Buffer, at: number): number {
  return Math.clz32(bytes[at] ?? 0) - 23;
}

export async function find(reader: ElementReader, parent: Element, id: number): Promise<Element | undefined> {
  for await (const child of childrenOf(reader, parent.contentFrom, parent.to)) if (child.id === id) return child;
  return undefined;
}

export async function bytesIn({ read }: ElementReader, { contentFrom, to }: Element): Promise<Buffer> {
  if (to - contentFrom > MAX_READ_BYTES) throw new Unreadable();
  return read(contentFrom, to - contentFrom);
}

export async function numberIn(reader: ElementReader, element: Element): Promise<number> {
  let number = 0;
  for (const byte of await bytesIn(reader, element)) number = number * 256 + byte;
  return number;
}

/** Where this service serves a stored file. */
export function mediaAddress(fileName: string): string {
  return `/media/${fileName}`;
}

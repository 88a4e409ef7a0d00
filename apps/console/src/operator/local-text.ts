/** A text of the server's in each language of the console: which one is read is known where it is shown. */
export interface LocalText {
  readonly en: string;
  readonly ru: string;
}

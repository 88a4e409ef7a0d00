/** The words of a form. A field of the schema without a label does not compile. */
export interface FormWords<Name extends string = string, Title extends string = string> {
  labels: Readonly<Record<Name, string>>;
  hints?: Readonly<Partial<Record<Name, string>>>;
  /** Of the words of a choice; of one that may be left out, also `any`. */
  options?: Readonly<Partial<Record<Name, Readonly<Record<string, string>>>>>;
  sections?: Readonly<Record<Title, string>>;
}

import type { ObjectKind } from "@intermission/operator-api/object-kinds";
import { useFormats } from "../words/formats.ts";
import { useLanguage } from "../words/word-table.ts";
import type { ChangedField } from "./audit-entry.ts";
import { fieldText } from "./field-words.ts";
import { valueText } from "./value-words.ts";

interface FieldRowsProps {
  /** Of the object that was changed. */
  objectKind: ObjectKind;
  fields: readonly ChangedField[];
}

/** The rows of changed fields, before and after, in the words of the screens that show them. */
export function FieldRows({ objectKind, fields }: FieldRowsProps) {
  const language = useLanguage();
  const { dateTime } = useFormats();
  const reading = { language, objectKind, dateTime };
  return (
    <tbody>
      {fields.map(({ field, before, after }) => (
        <tr key={field}>
          <th scope="row">{fieldText(language, field)}</th>
          <td>{valueText(reading, field, before)}</td>
          <td>{valueText(reading, field, after)}</td>
        </tr>
      ))}
    </tbody>
  );
}

import { useLanguage } from "../words/word-table.ts";
import { ChecksBox, type ControlProps } from "./checks-box.tsx";

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const weekdays = [1, 2, 3, 4, 5, 6, 7];
/** A Monday. */
const FIRST_DAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

/** The hours of a day, or the days of a week, each with a box. */
export function HoursField({ form, field, label, hint, fault, kind }: ControlProps & { kind: "hours" | "weekdays" }) {
  const name = new Intl.DateTimeFormat(useLanguage(), { weekday: "short", timeZone: "UTC" });
  const textOf = (value: number) =>
    kind === "hours" ? String(value).padStart(2, "0") : name.format(FIRST_DAY_MS + (value - 1) * DAY_MS);
  return (
    <ChecksBox label={label} hint={hint} fault={fault} className={`form-${kind}`}>
      <div>
        {(kind === "hours" ? hours : weekdays).map((value) => (
          <label key={value}>
            <input type="checkbox" value={String(value)} {...form.methods.register(field.name)} />
            {textOf(value)}
          </label>
        ))}
      </div>
    </ChecksBox>
  );
}

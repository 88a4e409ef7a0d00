import { useController } from "react-hook-form";
import type { ControlProps } from "../forms/checks-box.tsx";
import { AdvertiserPicker } from "../session/advertiser-picker.tsx";
import { Field } from "../ui/field.tsx";

/** One of the advertisers, by name. */
export function AdvertiserField({ form, field, label, hint, fault }: ControlProps) {
  const { field: held } = useController({ control: form.methods.control, name: field.name });
  return (
    <Field label={label} hint={hint} fault={fault}>
      {({ id }) => (
        <AdvertiserPicker
          isId
          id={id}
          label={label}
          value={String(held.value) || undefined}
          all="–"
          onChange={(chosen) => held.onChange(chosen ?? "")}
        />
      )}
    </Field>
  );
}

import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { useController } from "react-hook-form";
import type { ControlProps } from "../forms/checks-box.tsx";
import { useWholeList } from "../operator/use-operator.ts";
import { Field } from "../ui/field.tsx";

/** One of the advertisers, by name. */
export function AdvertiserField({ form, field, label, hint, fault }: ControlProps) {
  const { data } = useWholeList(advertiserRoutes.listAdvertisers);
  const { field: held } = useController({ control: form.methods.control, name: field.name });
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select {...control} ref={held.ref} value={String(held.value)} onChange={held.onChange} onBlur={held.onBlur}>
          <option value="">–</option>
          {data?.advertisers.map(({ advertiserId, name }) => (
            <option key={advertiserId} value={advertiserId}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

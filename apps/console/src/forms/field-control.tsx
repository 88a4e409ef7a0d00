import { currencyRoutes } from "@intermission/operator-api/currency";
import { durationText } from "@intermission/operator-api/duration-text";
import { type ComponentType, lazy, Suspense, type SyntheticEvent, useId, useRef } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Field } from "../ui/field.tsx";
import { typedLocalTime } from "../ui/local-time.ts";
import { MomentField } from "../ui/moment-field.tsx";
import { unitWords } from "../words/unit-words.ts";
import { useWords } from "../words/word-table.ts";
import { ChecksBox, type ControlProps } from "./checks-box.tsx";
import type { FieldKind } from "./form-fields.ts";
import type { FormWords } from "./form-words.ts";
import type { TypedForm } from "./typed-form.ts";
import { formWords } from "./words.ts";

/** Lists of hundreds of names, which most forms never open. */
const CodesField = lazy(async () => ({ default: (await import("./codes-field.tsx")).CodesField }));
const BotsField = lazy(async () => ({ default: (await import("./bots-field.tsx")).BotsField }));
const HoursField = lazy(async () => ({ default: (await import("./hours-field.tsx")).HoursField }));

interface FieldControlProps {
  form: TypedForm;
  name: string;
  words: FormWords;
  suggestions: readonly string[] | undefined;
  /** In place of the usual one. */
  Control: ComponentType<ControlProps> | undefined;
}

const wide: readonly FieldKind[] = ["address", "lines", "rewardUnit", "hours", "weekdays", "flag"];

/** The control of a field, by its kind. */
export function FieldControl({ form, name, words, suggestions, Control }: FieldControlProps) {
  const field = form.definition.fields.get(name);
  if (field === undefined) return null;
  const fault = form.faultOf(name);
  const shown = { form, field, label: words.labels[name] ?? name, hint: words.hints?.[name], fault };
  return (
    <div className={wide.includes(field.kind) ? "wide" : undefined}>
      <Suspense fallback={<Skeleton rows={1} />}>
        {Control === undefined ? (
          <KindControl {...shown} options={words.options?.[name] ?? {}} suggestions={suggestions} />
        ) : (
          <Control {...shown} />
        )}
      </Suspense>
    </div>
  );
}

interface KindControlProps extends ControlProps {
  options: Readonly<Record<string, string>>;
  suggestions: readonly string[] | undefined;
}

function KindControl({ options, suggestions, ...shown }: KindControlProps) {
  const { form, field, label, hint, fault } = shown;
  const { kind, name } = field;
  const registered = form.methods.register(name);
  switch (kind) {
    case "languages":
    case "countries":
      return <CodesField {...shown} kind={kind} />;
    case "bots":
      return <BotsField {...shown} />;
    case "hours":
    case "weekdays":
      return <HoursField {...shown} kind={kind} />;
    case "flag":
      return (
        <label className="form-flag">
          <input type="checkbox" {...registered} />
          {label}
        </label>
      );
    case "choices":
      return <Checks {...shown} options={options} />;
    case "choice":
    case "either":
      return <Choice {...shown} options={options} />;
    case "moment":
      return <Moment {...shown} />;
    case "lines":
    case "rewardUnit":
      return (
        <Field label={label} hint={hint} fault={fault}>
          {(control) => <textarea rows={3} {...control} {...registered} />}
        </Field>
      );
    case "timeZone":
      return <Text {...shown} suggestions={Intl.supportedValuesOf("timeZone")} />;
    case "seconds":
      return <Seconds {...shown} />;
    case "price":
    case "budget":
    case "payment":
      return <Amount {...shown} />;
    case "text":
    case "words":
    case "whole":
    case "address":
    case "email":
    case "username":
    case "word":
    // The form of a campaign draws its videos itself.
    case "videos":
      return <Text {...shown} suggestions={suggestions} />;
    default:
      return kind satisfies never;
  }
}

function Moment({ form, field: { name }, label, hint, fault }: ControlProps) {
  const input = useRef<HTMLInputElement>(null);
  const { ref, ...registered } = form.methods.register(name, {
    setValueAs: (value: string) =>
      input.current === null ? value : typedLocalTime({ value, validity: input.current.validity }),
  });
  const read = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => {
    // Else it would only clear the server's fault.
    if (typedLocalTime(currentTarget) === form.methods.getValues(name)) return;
    void registered.onChange({ target: currentTarget, type: "change" });
  };
  return (
    <MomentField
      label={label}
      hint={hint}
      text={String(form.values[name] ?? "")}
      fault={fault}
      {...registered}
      ref={(element) => {
        input.current = element;
        ref(element);
      }}
      // An unfinished time makes no change, so it is read before the form is sent, too.
      onBlur={(event) => {
        void registered.onBlur(event);
        read(event);
      }}
      onKeyDown={(event) => event.key === "Enter" && read(event)}
    />
  );
}

/** The keyboard of a phone. */
const inputModes: Partial<Record<FieldKind, "numeric" | "decimal" | "url" | "email">> = {
  whole: "numeric",
  seconds: "numeric",
  price: "decimal",
  budget: "decimal",
  payment: "decimal",
  address: "url",
  email: "email",
};

function Text({
  form,
  field,
  label,
  hint,
  fault,
  suggestions = [],
}: ControlProps & { suggestions?: readonly string[] | undefined }) {
  const id = useId();
  return (
    <>
      <Field label={label} hint={hint} fault={fault}>
        {(control) => (
          <input
            {...control}
            inputMode={inputModes[field.kind]}
            {...(suggestions.length > 0 && { list: id })}
            {...form.methods.register(field.name)}
          />
        )}
      </Field>
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** An amount, with its currency. */
function Amount({ hint, ...props }: ControlProps) {
  const words = useWords(formWords);
  const { data } = useAnswer(currencyRoutes.showCurrency);
  return (
    <Text {...props} hint={[data && words.inCurrency(data.currency), hint].filter(Boolean).join(" ") || undefined} />
  );
}

/** Below this, seconds say enough. */
const MIN_LONG_SECONDS = 600;

/** A number of seconds, with how long that is. */
function Seconds({ hint, ...props }: ControlProps) {
  const words = useWords(formWords);
  const units = useWords(unitWords);
  const typed = Number(props.form.values[props.field.name]);
  const lasts = typed >= MIN_LONG_SECONDS ? words.lasts(durationText(typed, units)) : "";
  return <Text {...props} hint={[hint, lasts].filter(Boolean).join(" ") || undefined} />;
}

function Choice({
  form,
  field,
  label,
  hint,
  fault,
  options,
}: ControlProps & { options: Readonly<Record<string, string>> }) {
  const words = useWords(formWords);
  const values = field.kind === "either" ? Object.keys(words.either) : field.options;
  const names = field.kind === "either" ? { ...words.either, ...options } : options;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select {...control} {...form.methods.register(field.name)}>
          {field.empty !== "needed" && field.kind === "either" && <option value="">{options.any ?? words.any}</option>}
          {values.map((value) => (
            <option key={value} value={value}>
              {names[value] ?? value}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Checks({
  form,
  field,
  label,
  hint,
  fault,
  options,
}: ControlProps & { options: Readonly<Record<string, string>> }) {
  return (
    <ChecksBox label={label} hint={hint} fault={fault}>
      {field.options.map((value) => (
        <label key={value}>
          <input type="checkbox" value={value} {...form.methods.register(field.name)} />
          {options[value] ?? value}
        </label>
      ))}
    </ChecksBox>
  );
}

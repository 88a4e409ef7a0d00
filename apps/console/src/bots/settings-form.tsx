import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { useId } from "react";
import type { UseFormReturn } from "react-hook-form";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { changedFields, useTypedSettings } from "../ui/typed-settings.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type BotField, type BotFormValues, bySetting, readBotForm, valuesOf } from "./bot-form-values.ts";
import { SettingsConflicts } from "./settings-conflicts.tsx";
import { settingsWords } from "./settings-words.ts";

/**
 * The form of a bot's settings. Only what was typed is sent, and only if the bot has not been changed since it was shown.
 * Another person's change appears in the fields at once; where the reader has typed into the same field, the reader chooses.
 * What is typed while it is saved stays.
 */
export function SettingsForm({ bot }: { bot: Bot }) {
  const words = useWords(settingsWords);
  const { save, saved } = useWords(uiWords);
  const language = useLanguage();
  const notice = useNotice();
  const update = useConfirmedChange(botRoutes.updateBot);
  const { form, seen, typed, conflicts, show, keepTyped } = useTypedSettings(bot, valuesOf);
  const faults = bySetting(update.faults);
  const faultOf = (field: BotField) => form.formState.errors[field]?.message ?? faults[field]?.[language];
  const submit = form.handleSubmit(async (values) => {
    if (typed.length === 0) {
      notice({ text: saved });
      return;
    }
    const read = await readBotForm(values, typed);
    if (read.outcome === "changes") {
      const query = { expectedUpdatedAt: seen.updatedAt };
      await update.run({ params: { botId: bot.botId }, query, body: read.body }, (changed) => {
        show(changed, changedFields(values, form.getValues()));
        notice({ text: saved });
      });
      return;
    }
    const refused = typed.filter((field) => read.faults[field] !== undefined);
    for (const [index, field] of refused.entries())
      form.setError(field, { message: read.faults[field]?.[language] ?? "" }, { shouldFocus: index === 0 });
  });
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{words.settings}</h2>
      {!update.isPending && (
        <SettingsConflicts fields={conflicts} stored={bot} onTake={() => show(bot)} onKeep={keepTyped} />
      )}
      <form className="stack" onSubmit={submit} noValidate>
        <Identity form={form} faultOf={faultOf} />
        <Limits form={form} faultOf={faultOf} />
        <Earning form={form} faultOf={faultOf} />
        <Webhooks form={form} faultOf={faultOf} />
        <SeenByUsers form={form} faultOf={faultOf} />
        <Blocked form={form} faultOf={faultOf} />
        <div className="row">
          <Button look="primary" type="submit" isBusy={update.isPending}>
            {save}
          </Button>
        </div>
      </form>
      {update.dialog}
    </section>
  );
}

interface PartProps {
  form: UseFormReturn<BotFormValues>;
  faultOf: (field: BotField) => string | undefined;
}

function Identity(part: PartProps) {
  const words = useWords(settingsWords);
  const zones = useId();
  return (
    <div className="two">
      <Text {...part} field="name" label={words.name} hint={words.nameHint} />
      <Text {...part} field="username" label={words.username} hint={words.usernameHint} />
      <Text {...part} field="category" label={words.category} hint={words.categoryHint} />
      <Text {...part} field="timeZone" label={words.timeZone} hint={words.timeZoneHint} list={zones} />
      <datalist id={zones}>
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
}

function Limits(part: PartProps) {
  const words = useWords(settingsWords);
  return (
    <Group title={words.limits}>
      <div className="two">
        <Text {...part} field="dailyCap" label={words.dailyCap} hint={words.dailyCapHint} inputMode="numeric" />
        <Text {...part} field="cooldownSeconds" label={words.cooldown} inputMode="numeric" />
        <Text {...part} field="codeLifetimeSeconds" label={words.codeLifetime} inputMode="numeric" />
      </div>
    </Group>
  );
}

function Earning(part: PartProps) {
  const words = useWords(settingsWords);
  return (
    <Group title={words.earning}>
      <div className="two">
        <Choice
          {...part}
          field="payPerCode"
          label={words.payPerCode}
          hint={words.payPerCodeHint}
          texts={words.payPerCodeIs}
        />
        <Choice {...part} field="suspiciousViews" label={words.suspiciousViews} texts={words.suspiciousViewsAre} />
        <Choice {...part} field="suspiciousClicks" label={words.suspiciousClicks} texts={words.suspiciousClicksAre} />
      </div>
    </Group>
  );
}

function Webhooks(part: PartProps) {
  const words = useWords(settingsWords);
  return (
    <Group title={words.webhooks}>
      <Text {...part} field="webhookUrl" label={words.webhookUrl} hint={words.webhookUrlHint} inputMode="url" />
      <div className="two">
        <Choice {...part} field="deliveryMode" label={words.deliveryMode} texts={words.deliveryModeIs} />
        <Text
          {...part}
          field="publisherApiUrl"
          label={words.publisherApiUrl}
          hint={words.publisherApiUrlHint}
          inputMode="url"
        />
      </div>
      <Box {...part} field="includeRevenue" label={words.includeRevenue} />
    </Group>
  );
}

function SeenByUsers(part: PartProps) {
  const words = useWords(settingsWords);
  return (
    <Group title={words.users}>
      <div className="two">
        <Text {...part} field="rewardPerView" label={words.rewardPerView} hint={words.rewardHint} inputMode="numeric" />
        <Text {...part} field="rewardPerClick" label={words.rewardPerClick} inputMode="numeric" />
      </div>
      <Lines {...part} field="rewardUnit" label={words.rewardUnit} hint={words.rewardUnitHint} />
      <Box {...part} field="skipOffer" label={words.skipOffer} />
      <Box {...part} field="closeWhenCredited" label={words.closeWhenCredited} />
    </Group>
  );
}

function Blocked(part: PartProps) {
  const words = useWords(settingsWords);
  return (
    <Group title={words.blocked}>
      <div className="two">
        <Text {...part} field="blockedCategories" label={words.blockedCategories} hint={words.blockedCategoriesHint} />
        <Lines
          {...part}
          field="blockedAdvertisers"
          label={words.blockedAdvertisers}
          hint={words.blockedAdvertisersHint}
        />
      </div>
    </Group>
  );
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <fieldset className="form-group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

interface ControlProps extends PartProps {
  field: BotField;
  label: string;
  hint?: string;
}

interface TextProps extends ControlProps {
  inputMode?: "numeric" | "url";
  list?: string;
}

function Text({ form, faultOf, field, label, hint, ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint} fault={faultOf(field)}>
      {(control) => <input {...control} {...rest} {...form.register(field)} />}
    </Field>
  );
}

function Lines({ form, faultOf, field, label, hint }: ControlProps) {
  return (
    <Field label={label} hint={hint} fault={faultOf(field)}>
      {(control) => <textarea rows={3} {...control} {...form.register(field)} />}
    </Field>
  );
}

type ChoiceField = "payPerCode" | "suspiciousViews" | "suspiciousClicks" | "deliveryMode";

/** `texts`: of each value that the setting may have. */
function Choice<One extends ChoiceField>({
  form,
  faultOf,
  field,
  label,
  hint,
  texts,
}: ControlProps & { field: One; texts: Readonly<Record<Bot[One], string>> }) {
  const options: [string, string][] = Object.entries(texts);
  return (
    <Field label={label} hint={hint} fault={faultOf(field)}>
      {(control) => (
        <select {...control} {...form.register<BotField>(field)}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Box({ form, field, label }: ControlProps) {
  return (
    <label>
      <input type="checkbox" {...form.register(field)} />
      {label}
    </label>
  );
}

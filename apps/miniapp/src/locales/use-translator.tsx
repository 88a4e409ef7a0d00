import { createContext, createElement, Fragment, type ReactNode, use } from "react";
import type { MessageKey, MessageValues } from "./dictionary.ts";
import type { Translator } from "./translate.ts";

const TranslatorContext = createContext<Translator | null>(null);

export const TranslatorProvider = TranslatorContext;

export function useTranslator(): Translator {
  const translator = use(TranslatorContext);
  if (!translator) throw new Error("this component needs a TranslatorProvider as an ancestor");
  return translator;
}

/**
 * A text with its values in `<bdi>`: a value of another direction must not reorder the text around it. The parts are known by
 * their place, so that a countdown changes its text and not its element.
 */
export function Message<Key extends MessageKey>({ id, values }: { id: Key; values: MessageValues<Key> }): ReactNode {
  const parts = useTranslator().parts(id, values);
  return createElement(Fragment, null, ...parts.map(({ kind, text }) => (kind === "text" ? text : <bdi>{text}</bdi>)));
}

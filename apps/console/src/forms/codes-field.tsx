import { isCountry, isLanguage } from "@intermission/operator-api/standard-codes";
import { useMemo, useState } from "react";
import { useLanguage } from "../words/word-table.ts";
import type { ControlProps } from "./checks-box.tsx";
import { WholePickList } from "./pick-list.tsx";

const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const pairs = letters.flatMap((first) => letters.map((second) => first + second));

/** The codes of the standard, without the former ones such as `iw` and `UK`. */
const codes = {
  languages: () => pairs.filter((code) => isLanguage(code) && new Intl.Locale(code).language === code),
  countries: () =>
    pairs
      .map((code) => code.toUpperCase())
      .filter((code) => isCountry(code) && new Intl.Locale(`und-${code}`).region === code),
};

const types = { languages: "language", countries: "region" } as const;

/** Languages or countries, by their names in the reader's language. */
export function CodesField({ kind, ...shown }: ControlProps & { kind: keyof typeof codes }) {
  const language = useLanguage();
  const [text, setText] = useState("");
  const search = text.trim().toLowerCase();
  const picks = useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: types[kind] });
    // Languages of three letters are too many to be listed, and are found by their code.
    const rare = kind === "languages" && /^[a-z]{3}$/.test(search) && isLanguage(search) ? [search] : [];
    const named = [...codes[kind](), ...rare].map((code) => ({
      value: code,
      text: `${names.of(code) ?? code} (${code})`,
    }));
    return named.toSorted((one, other) => one.text.localeCompare(other.text, language));
  }, [kind, language, search]);
  return <WholePickList {...shown} picks={picks} text={text} onText={setText} />;
}

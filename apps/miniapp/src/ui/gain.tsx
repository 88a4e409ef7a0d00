import type { NamedReward } from "@intermission/ad-core/client-api";
import { useTranslator } from "../locales/use-translator.tsx";

export interface GainProps {
  amount: number;
  unit?: NamedReward["unit"];
  icon_url?: string | undefined;
}

/** `+10 coins`, with the icon of the unit: a background, which leaves no broken image where the file is missing. */
export function Gain(named: GainProps) {
  const [number, unit] = useTranslator().gain(named);
  const { icon_url: icon } = named;
  return (
    <bdi>
      {icon ? <i className="unit-icon" style={{ backgroundImage: `url("${icon}")` }} /> : null}
      <bdi dir="ltr">{number}</bdi>
      {unit}
    </bdi>
  );
}

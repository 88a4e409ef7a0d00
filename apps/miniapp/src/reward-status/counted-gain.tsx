import { type CSSProperties, useEffect, useState } from "react";
import { useTranslator } from "../locales/use-translator.tsx";
import { Gain, type GainProps } from "../ui/gain.tsx";
import { isCalm } from "../ui/is-calm.ts";

const COUNT_MS = 700;

/**
 * `+10 coins`, counted up from 0. It is one picture to screen readers, which name the whole amount once; where motion is
 * unwanted, or the phone is slow, it is there at once.
 */
export function CountedGain(named: GainProps) {
  const { gain } = useTranslator();
  const { amount } = named;
  const [share, setShare] = useState(() => (isCalm() ? 1 : 0));
  useEffect(() => {
    if (share === 1) return;
    const startedAt = performance.now();
    // Not of `share`: a frame that is drawn must not start the count again.
    const timer = setInterval(() => {
      const passed = Math.min(1, (performance.now() - startedAt) / COUNT_MS);
      setShare(passed);
      if (passed === 1) clearInterval(timer);
    }, 40);
    return () => clearInterval(timer);
  }, []);
  const [number] = gain(named);
  const shown = share === 1 ? amount : Math.round(amount * share * (2 - share));
  return (
    <span
      className="counted"
      role="img"
      aria-label={gain(named).join("")}
      style={{ "--characters": number.length } as CSSProperties}
    >
      <Gain {...named} amount={shown} />
    </span>
  );
}

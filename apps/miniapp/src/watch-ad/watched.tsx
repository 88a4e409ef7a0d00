import { useEffect, useRef } from "react";
import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";

export function Watched({ onClose }: { onClose: () => void }) {
  const { text } = useTranslator();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className="sheet">
      <div className="sheet-head" role="status">
        <div className="notice-picture tone-good">
          <Icon name="check" />
        </div>
        <h1 ref={heading} tabIndex={-1}>
          {text("watched.title")}
        </h1>
        <p className="secondary">{text("watched.text")}</p>
      </div>
      <Button onClick={onClose}>{text("action.closeAndGet")}</Button>
    </div>
  );
}

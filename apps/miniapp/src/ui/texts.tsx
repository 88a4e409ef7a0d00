import { type ComponentProps, useEffect, useRef } from "react";
import { Message } from "../locales/use-translator.tsx";

/** The heading of a screen. It takes the focus when the screen appears, so that screen readers begin with it. */
export function Heading(props: ComponentProps<"h1">) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return <h1 ref={heading} tabIndex={-1} {...props} />;
}

/** A code that the user quotes to support. One tap selects all of it. */
export function SupportCode({ id }: { id: string }) {
  return (
    <p className="support-code">
      <Message id="supportCode" values={{ id }} />
    </p>
  );
}

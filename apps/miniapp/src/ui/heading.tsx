import { type ComponentProps, useEffect, useRef } from "react";

/** The heading of a screen. It takes the focus when the screen appears, so that screen readers begin with it. */
export function Heading(props: ComponentProps<"h1">) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return <h1 ref={heading} tabIndex={-1} {...props} />;
}

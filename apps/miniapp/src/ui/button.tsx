import type { ComponentProps } from "react";
import { useStrayClick } from "./hooks.ts";

type ButtonProps = Omit<ComponentProps<"button">, "onClick"> & {
  look?: "primary" | "secondary" | "danger" | "on-video" | "tap";
  onClick: () => void;
};

export function Button({ look = "primary", onClick, ...rest }: ButtonProps) {
  const isStray = useStrayClick();
  return (
    <button
      type="button"
      className={look === "tap" ? "tap" : `button button-${look}`}
      onClick={(event) => isStray(event) || onClick()}
      {...rest}
    />
  );
}

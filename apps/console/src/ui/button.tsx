import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps extends ComponentProps<"button"> {
  look?: "primary" | "plain" | "danger" | "quiet";
  icon?: IconName;
  /** While its request is under way: it stays in place and takes no second press. */
  isBusy?: boolean;
}

export function Button({ look = "plain", icon, isBusy = false, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button button-${look}`}
      aria-busy={isBusy}
      {...rest}
      // The focus stays on the button, which `disabled` would lose.
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : rest.onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

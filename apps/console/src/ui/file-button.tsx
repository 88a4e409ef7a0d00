import { type ReactNode, useRef } from "react";
import { Button } from "../ui/button.tsx";

interface FileButtonProps {
  /** Types and endings, as `<input accept>` has them. */
  accept: string;
  look?: "primary" | "plain";
  isBusy?: boolean;
  onFile: (file: File) => void;
  children: ReactNode;
}

/** A button that opens the browser's file picker. The same file can be chosen again. */
export function FileButton({ accept, look = "plain", isBusy = false, onFile, children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          target.value = "";
          if (file !== undefined) onFile(file);
        }}
      />
      <Button look={look} isBusy={isBusy} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}

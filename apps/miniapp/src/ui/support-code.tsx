import { Message } from "../locales/use-translator.tsx";

/** A code that the user quotes to support. One tap selects all of it. */
export function SupportCode({ id }: { id: string }) {
  return (
    <p className="support-code">
      <Message id="supportCode" values={{ id }} />
    </p>
  );
}

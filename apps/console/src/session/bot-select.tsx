import { useOwnBots } from "./use-own-bots.ts";

interface BotSelectProps {
  label: string;
  value: string | undefined;
  onChange: (botId: string) => void;
}

/** Which of a publisher's bots a page is about; nothing where there is one. */
export function BotSelect({ label, value, onChange }: BotSelectProps) {
  const bots = useOwnBots().data ?? [];
  if (bots.length < 2) return null;
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      {bots.map(({ botId, name }) => (
        <option key={botId} value={botId}>
          {name}
        </option>
      ))}
    </select>
  );
}

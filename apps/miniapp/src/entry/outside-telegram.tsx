import { useState } from "react";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { LinkOutside } from "../ui/link-outside.tsx";
import { Notice } from "../ui/notice.tsx";

interface OutsideTelegramProps {
  /** The bot's chat, if the page names it. */
  botLink: string | undefined;
  /** A picture of `botLink` as a QR code, for readers at a computer. */
  qrCodeUrl: string | undefined;
  host: Host;
}

/** Without signed launch data the user is unknown and cannot be rewarded. */
export function OutsideTelegram({ botLink, qrCodeUrl, host }: OutsideTelegramProps) {
  const { text } = useTranslator();
  const [isScannable, setScannable] = useState(true);
  return (
    <Notice
      state="outside-telegram"
      icon="telegram"
      title={text("outside-telegram.title")}
      action={
        botLink ? (
          <LinkOutside look="primary" url={botLink} telegramLink={botLink} label={text("action.openBot")} host={host} />
        ) : undefined
      }
    >
      <p className="secondary">{text("outside-telegram.text")}</p>
      {botLink && qrCodeUrl && isScannable ? (
        <figure className="qr-code">
          <img src={qrCodeUrl} width="176" height="176" alt="" onError={() => setScannable(false)} />
          <figcaption className="secondary">{text("outside-telegram.scan")}</figcaption>
        </figure>
      ) : null}
    </Notice>
  );
}

/** With what the page says about its bot. */
export function OutsideOfBot({ host }: { host: Host }) {
  return <OutsideTelegram {...readBotLink()} host={host} />;
}

/** What the page says about the bot: its address, and on a computer the address's QR code. */
export function readBotLink(): Pick<OutsideTelegramProps, "botLink" | "qrCodeUrl"> {
  const named = document.querySelector<HTMLMetaElement>('meta[name="bot-link"]')?.content;
  const botLink = named?.startsWith("https://t.me/") ? named : undefined;
  const isComputer = matchMedia("(hover: hover) and (pointer: fine)").matches;
  const qrCodeUrl = botLink && isComputer ? `${location.pathname.replace(/\/+$/, "")}/qr.svg` : undefined;
  return { botLink, qrCodeUrl };
}

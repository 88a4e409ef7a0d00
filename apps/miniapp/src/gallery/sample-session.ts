import type { Host } from "../telegram/host.ts";
import type { Session } from "../watch-ad/watching.ts";

/** A drawing instead of a video: sky, sun and hills, with bright and dark parts under every control. */
const drawing = (size: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180"
preserveAspectRatio="xMidYMid slice" ${size}><defs><linearGradient id="s" x2="0" y2="1">
<stop stop-color="#7fc4ff"/><stop offset="1" stop-color="#fff3d6"/></linearGradient></defs><path fill="url(#s)" d="M0 0h320v180H0z"/>
<circle cx="236" cy="62" r="30" fill="#fff"/><path fill="#3f8f6b" d="M0 128q60-52 122-14t118-18 80 26v58H0z"/>
<path fill="#1d4d45" d="M0 156q84-38 158-12t162-14v50H0z"/></svg>`;

const asUrl = (picture: string) => `data:image/svg+xml,${encodeURIComponent(picture)}`;
const poster = asUrl(drawing('width="1280" height="720"'));
export const portraitPoster = asUrl(drawing('width="1080" height="1920"'));

const square = (content: string) =>
  asUrl(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">${content}</svg>`);
/** Coin Garden's. */
export const botPicture = square(
  '<path fill="#2f7d5b" d="M0 0h64v64H0z"/><circle cx="32" cy="26" r="13" fill="#ffd166"/><path fill="#9ad27a" d="M30 38h4v18h-4z"/>',
);
/** The icon of its coins. */
export const coinIcon = square(
  '<circle cx="32" cy="32" r="30" fill="#e0a21b"/><circle cx="32" cy="32" r="22" fill="#ffd166"/>',
);

/** An advertiser's picture of this size for the end card, with a border that shows where it ends. */
export const companion = (width: number, height: number) => ({
  poster_url:
    asUrl(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif"
font-size="${height / 10}" text-anchor="middle"><rect width="100%" height="100%" fill="#c8452f"/><rect x="8" y="8"
width="${width - 16}" height="${height - 16}" fill="none" stroke="#ffe2a8" stroke-width="4"/><circle cx="50%" cy="42%"
r="${width / 5}" fill="#ffe2a8"/><text x="50%" y="78%" fill="#fff">Tea for two</text></svg>`),
  width,
  height,
  call_to_action: { label: "Get the offer", url: "https://example.com/offer" },
});

export const session: Session = {
  outcome: "session",
  bot: { bot_id: "7000000001", name: "Coin Garden" },
  session_id: "sample",
  token: "sample",
  code: "4YQm3XkT7vRbN2hWpz",
  state: "opened",
  ad: {
    advertiser: "Hillside Tea",
    media_url: "about:blank",
    media_type: "video/mp4",
    poster_url: poster,
    duration_ms: 15_000,
    width: 1280,
    height: 720,
    call_to_action: { label: "Visit the shop", url: "https://example.com/" },
  },
  accepted_ms: 0,
  resume_at_ms: 0,
  first_sequence: 0,
  server_time: "2030-01-01T00:00:00Z",
  deadline: "2030-01-01T01:00:00Z",
};

const nothing = () => {};

/** A client that ignores every call. */
export const idleHost: Host = {
  ready: nothing,
  close: nothing,
  openLink: () => false,
  openTelegramLink: () => false,
  haptic: nothing,
  holdOpen: nothing,
  immerse: () => nothing,
  onBack: () => nothing,
  onVisibility: () => nothing,
};

const finder = "h7v7h-7zm1 1v5h5v-5zm1 1h3v3h-3z";
/** Looks like a QR code and has its quiet zone; the ad service makes the real one. */
export const sampleQrCode = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 33 33"><path fill="#fff" d="M-4-4h33v33h-33z"/><path fill-rule="evenodd" d="M0 0${finder}M18 0${finder}M0 18${finder}M9 1h2v3h3v3h2v5h6v2h3v4h-5v3h4v4h-3v-2h-6v2h-4v-5h3v-4h-5v3h-7v-3h3v-3h6z"/></svg>`,
)}`;

export interface EmbeddedVideo {
  fileName: string;
  url: string;
  posterUrl: string | undefined;
  width: number;
  height: number;
}

const ROOT = "<html ";
const SLOT = '<div class="video-slot">';

/**
 * Puts a video into the page's slot, so that the browser loads its first frame before any script runs. The page's script
 * reads the file's name from the root element, to ask for that file when it opens its session.
 */
export function embedVideo(html: string, { fileName, url, posterUrl, width, height }: EmbeddedVideo): string {
  const poster = posterUrl === undefined ? "" : ` poster="${escaped(posterUrl)}"`;
  const size = `width="${Number(width)}" height="${Number(height)}"`;
  // Only the metadata and the first frame: the session may choose another ad, or none.
  const video = `<video class="video" muted playsinline preload="metadata" ${size}${poster} src="${escaped(url)}"></video>`;
  // Functions, because replacement strings interpret "$&".
  return html.replace(ROOT, () => `${ROOT}data-video="${escaped(fileName)}" `).replace(SLOT, () => `${SLOT}${video}`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What a file is, by its first bytes: to refuse at once what the server would refuse after the upload. */

const FOUND = [
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^RIFF[^]{4}WAVE/, "audio/wav"],
  [/^ID3|^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/, "audio/mpeg"],
  [/%PDF-/, "application/pdf"],
  [/^PK\x03\x04/, "a ZIP archive or an Office document"],
  [/^GIF8[79]a/, "a GIF picture"],
  [/^[^]{4}ftyp/, "a film, or a picture of a phone (HEIC, AVIF)"],
  [/^OggS/, "an Ogg recording"],
  [/^fLaC/, "a FLAC recording"],
  [/^Rar!|^7z\xbc\xaf|^\x1f\x8b|^BZh/, "an archive"],
  [/^MZ|^\x7fELF/, "a program"],
  [/^\xd0\xcf\x11\xe0/, "an old Office document"],
  [/^BM[^]{4}\0\0\0\0/, "a BMP picture"],
  [/^(II\*\0|MM\0\*)/, "a TIFF picture"],
];

export const ACCEPTED = "JPEG, PNG, WebP, PDF, text, Markdown, MP3 or WAV";
/** For the browser's own chooser. Others can be chosen all the same. */
export const ACCEPT = ".jpg,.jpeg,.png,.webp,.pdf,.txt,.md,.markdown,.mp3,.wav,text/*";

/**
 * Why a file is not taken; null where that is for the server to say.
 * @param {File} file
 * @param {{maxBytes: number}} limits
 * @returns {Promise<string | null>}
 */
export async function objection(file, { maxBytes }) {
  if (file.size === 0) return "The file is empty";
  if (file.size > maxBytes) return `The file is larger than ${Math.round(maxBytes / 2 ** 20)} MB`;
  let head;
  try {
    head = await file.slice(0, 1024).arrayBuffer();
  } catch {
    return "The file can't be read (is it a folder?)";
  }
  const bytes = String.fromCharCode(...new Uint8Array(head));
  const found = FOUND.find(([mark]) => mark.test(bytes))?.[1];
  return found && !found.includes("/") ? `This is ${found}; accepted are ${ACCEPTED}` : null;
}

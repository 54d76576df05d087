/**
 * Characters that no file system or header should meet in the name of a download: control characters (C0, DEL, C1),
 * separators of folders, what Windows refuses in names, marks that change the reading direction, and unpaired
 * surrogates.
 */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\:*?"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu

/** A name as a file name: safe to save under, in no other folder, never hidden. */
export function safeFileName(name: string): string {
  return name.replace(UNSAFE, '_').trim().replace(/^\.+/, '_')
}

/** The same name in printable ASCII, for programs that do not read `filename*` (RFC 8187), curl for example. */
export function asciiFileName(name: string): string {
  return safeFileName(name).replace(/[^\x20-\x7e]|%/gu, '_')
}

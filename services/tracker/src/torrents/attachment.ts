/**
 * A Content-Disposition header that saves a download under a name (RFC 6266): plain ASCII for old clients, and the
 * exact name percent-encoded as UTF-8 (RFC 8187) for the others. No name can break out of the header or the folder.
 */
export function attachment(name: string): string {
  const safe = name
    // Characters that end a line or a quoted string, separate folders, or turn the reading direction, and half a pair.
    .replace(/\p{Surrogate}/gu, '_')
    .replace(/[\u0000-\u001f\u007f/\\:*?"<>|\u0080-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '_')
    .replace(/^\.+/, '_')
    .trim()
  const ascii = safe.replace(/[^\x20-\x7e]/g, '_').replace(/%/g, '_')
  const encoded = encodeURIComponent(safe).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

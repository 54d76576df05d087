// Session descriptions (RFC 8829) are most of what clients send, and are passed on as they came: neither decoded nor
// written anew. Here a message is a string of bytes: one character, U+0000 to U+00FF, for each byte of its UTF-8.

/** A JSON document without the text of its session descriptions. */
export type ShortMessage = {
  /** The document, with a number in place of each text: `"sdp":"0"`, `"sdp":"1"`, ... */
  readonly json: string
  /** The texts, as JSON has them between the quotation marks (RFC 8259 section 7), in bytes. */
  readonly descriptions: readonly string[]
}

/**
 * A member `sdp` whose value is a well-formed string. Wherever in a document this is found, its last quotation marks
 * are those of a value: within a string, a quotation mark would have a backslash in front, and behind a string no name
 * may follow. So what is cut out never decides whether the rest is JSON.
 */
const DESCRIPTION = /"sdp"\s*:\s*"([^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*)"/g

/** Cuts the session descriptions out of a message, which is valid UTF-8 in bytes. */
export function cutDescriptions(message: string): ShortMessage {
  const descriptions: string[] = []
  let json = ''
  let end = 0
  for (const match of message.matchAll(DESCRIPTION)) {
    json += `${message.slice(end, match.index)}"sdp":"${String(descriptions.length)}"`
    descriptions.push(match[1] ?? '')
    end = match.index + match[0].length
  }
  return { json: end === 0 ? message : json + message.slice(end), descriptions }
}

// Session descriptions (RFC 8829) are most of what clients send, and are passed on as they came: neither decoded nor
// written anew. Here a message is a string of bytes: one character, U+0000 to U+00FF, for each byte of its UTF-8.

/** A JSON document without the text of its session descriptions. */
export type ShortMessage = {
  /** The document, with a number in place of each text: `"sdp":"0"`, `"sdp":"1"`, ... */
  readonly json: string
  /** The texts, as JSON has them between the quotation marks (RFC 8259 section 7), in bytes. */
  readonly descriptions: readonly string[]
}

/** What may stand between the name `sdp` and its text. */
const BEFORE_TEXT = /\s*:\s*"/y
/** The rest of a well-formed string, with the quotation mark at its end. */
const TEXT = /[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const NAME = '"sdp"'

/**
 * Cuts the session descriptions out of a message, which is valid UTF-8 in bytes: the members `sdp` whose value is a
 * well-formed string. Wherever in a document such a member is found, its last quotation marks are those of a value:
 * within a string, a quotation mark would have a backslash in front, and behind a string no name may follow. So what is
 * cut out never decides whether the rest is JSON.
 */
export function cutDescriptions(message: string): ShortMessage {
  const descriptions: string[] = []
  let json = ''
  let end = 0
  for (let at = message.indexOf(NAME); at >= 0; at = message.indexOf(NAME, at)) {
    at += NAME.length
    const start = endOf(BEFORE_TEXT, message, at)
    const next = start < 0 ? -1 : endOfString(message, start)
    if (next < 0) continue
    json += `${message.slice(end, at)}:"${String(descriptions.length)}"`
    descriptions.push(message.slice(start, next - 1))
    end = at = next
  }
  return { json: end === 0 ? message : json + message.slice(end), descriptions }
}

/** Where a string ends, behind its quotation mark, that starts here behind the opening one; -1 when it is not well-formed. */
export function endOfString(message: string, at: number): number {
  return endOf(TEXT, message, at)
}

/** Where the match of a sticky expression ends that starts here; -1 when there is none. */
function endOf(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : -1
}

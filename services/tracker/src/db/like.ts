/** Text as part of a LIKE pattern, in which its `%`, `_` and `\` stand for themselves. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

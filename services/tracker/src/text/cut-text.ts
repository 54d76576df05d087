/** Cuts text to a length in UTF-16 units, never inside a surrogate pair, because Postgres refuses half of one in JSON. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

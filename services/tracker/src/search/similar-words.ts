/** Whether similar words are looked for, as the trigger `add_search_words` of the database decides. */
export function isSimilarWord(token: string): boolean {
  return /^[^0-9]{4,40}$/u.test(token)
}

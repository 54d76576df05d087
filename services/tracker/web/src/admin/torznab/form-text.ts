/** What was entered in a field of a form; undefined where it was left empty. */
export function formText(data: FormData, name: string): string | undefined {
  const value = data.get(name)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

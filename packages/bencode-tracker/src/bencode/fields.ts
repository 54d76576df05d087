import type { BencodeDict, BencodeValue } from './decode.ts'

// Each function returns the content of a value of one kind, or `undefined` if it is missing or of another kind.

export function integerOf(value: BencodeValue | undefined): number | undefined {
  return value?.kind === 'integer' ? value.value : undefined
}

export function bytesOf(value: BencodeValue | undefined): Buffer | undefined {
  return value?.kind === 'bytes' ? value.value : undefined
}

export function listOf(value: BencodeValue | undefined): readonly BencodeValue[] | undefined {
  return value?.kind === 'list' ? value.items : undefined
}

export function dictOf(value: BencodeValue | undefined): BencodeDict | undefined {
  return value?.kind === 'dict' ? value : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a byte string; `undefined` also if it is not valid UTF-8. */
export function textOf(value: BencodeValue | undefined): string | undefined {
  const bytes = bytesOf(value)
  return bytes === undefined ? undefined : utf8Text(bytes)
}

/** Returns `undefined` if the bytes are not valid UTF-8, instead of guessing with replacement characters. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

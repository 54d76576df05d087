import {
  parseSignedRequest,
  type ReceivedMessage,
  SignatureError,
  type VerifyKey,
  verifySignatureOffThread,
} from '@vault-and-tracker/http-signatures'

const SCHEMES = ['https', 'http'] as const

/**
 * Whether a signature that did not verify is for the scheme or host that a proxy received. The vault does not see them if
 * the proxy is not trusted, or does not send them.
 */
export async function isOfHiddenOrigin(message: ReceivedMessage, key: VerifyKey): Promise<boolean> {
  for (const each of otherOrigins(message)) {
    try {
      await verifySignatureOffThread(parseSignedRequest(each), [key])
      return true
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error
    }
  }
  return false
}

function otherOrigins(message: ReceivedMessage): readonly ReceivedMessage[] {
  const host = forwardedHost(message.rawHeaders)
  const hosts = [message.rawHeaders, ...(host === undefined ? [] : [withHost(message.rawHeaders, host)])]
  return hosts
    .flatMap((rawHeaders) => SCHEMES.map((scheme) => ({ ...message, scheme, rawHeaders })))
    .filter(({ scheme, rawHeaders }) => scheme !== message.scheme || rawHeaders !== message.rawHeaders)
}

function forwardedHost(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'x-forwarded-host')
  return at === -1 ? undefined : rawHeaders[at + 1]
}

/** Headers with another Host, as names and values in turn. */
export function withHost(rawHeaders: readonly string[], host: string): readonly string[] {
  const others = rawHeaders.filter((_text, i) => rawHeaders[i - (i % 2)]?.toLowerCase() !== 'host')
  return [...others, 'Host', host]
}

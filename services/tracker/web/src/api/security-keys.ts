import { ApiError } from '@vault-and-tracker/web-kit/api'
import type { components } from '../../generated/openapi.ts'

type Schemas = components['schemas']

/** Whether this browser has security keys, and the address of the site can have them: an IP address cannot. */
export function supportsSecurityKeys(): boolean {
  return 'PublicKeyCredential' in window && !/^[\d.]+$|:/.test(location.hostname)
}

/** Lets the user confirm a sign-in with a security key. @throws ApiError if they cancel it */
export async function signWithSecurityKey(optionsJSON: Schemas['SecurityKeyRequest'] | undefined) {
  if (optionsJSON === undefined) throw cancelled()
  const { startAuthentication } = await import('@simplewebauthn/browser')
  return startAuthentication({ optionsJSON }).catch(() => {
    throw cancelled()
  })
}

/** Lets the user create a security key. @throws ApiError if they cancel it, or have one on that device already */
export async function createSecurityKey(optionsJSON: Schemas['SecurityKeyCreation']) {
  const { startRegistration } = await import('@simplewebauthn/browser')
  return startRegistration({ optionsJSON }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'InvalidStateError')
      throw new ApiError({
        status: 400,
        code: 'EXISTS',
        message: 'This security key is already registered.',
      })
    throw cancelled()
  })
}

function cancelled(): ApiError {
  return new ApiError({
    status: 400,
    code: 'CANCELLED',
    message: 'The security key was not used. Try again, or use another method.',
  })
}

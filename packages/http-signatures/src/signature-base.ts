/** A component identifier and its value, for example `['@method', 'GET']`. */
export type Component = readonly [name: string, value: string]

/** The covered values of this package's profile. */
export type ProfileValues = {
  readonly method: string
  readonly authority: string
  readonly targetUri: string
  readonly contentDigest: string | undefined
}

/**
 * Builds a signature base (RFC 9421 section 2.5): one line per component, `@signature-params` last, no final newline.
 *
 * Callers must ensure that no value contains a line break, which could forge another component.
 */
export function signatureBase(components: readonly Component[], signatureParams: string): string {
  let base = ''
  for (const [name, value] of components) base += `"${name}": ${value}\n`
  return `${base}"@signature-params": ${signatureParams}`
}

/** The components of the profile in the only allowed order. */
export function profileComponents(values: ProfileValues): readonly Component[] {
  const components: Component[] = [
    ['@method', values.method],
    ['@authority', values.authority],
    ['@target-uri', values.targetUri],
  ]
  if (values.contentDigest !== undefined) components.push(['content-digest', values.contentDigest])
  return components
}

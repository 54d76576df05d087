import { ENV, PROJECT_NAME, SECRET_KEY } from '../access/names.ts'

/** An environment of a project, by their names. */
export type ReferencePlace = { readonly project: string; readonly env: string }

/** A reference in a value, as it was written. Without a place, it is to a key of the environment that is read. */
export type Reference = { readonly text: string; readonly place: ReferencePlace | undefined; readonly key: string }

/** A value that refers to others: texts and references. */
export type Template = readonly (string | Reference)[]

/** The maximum number of references in a value, more than any configuration needs. */
const MAX_REFERENCES = 100

/**
 * Parses a value with references: `${KEY}`, `${project.environment.KEY}`, and `$${` for a literal `${`. One dot belongs to a
 * key; two separate names.
 *
 * @returns what is wrong, for an error message, if the text is malformed
 */
export function parseTemplate(text: string): Template | { readonly problem: string } {
  const parts: (string | Reference)[] = []
  let references = 0
  for (let end = 0; end < text.length; ) {
    const start = text.indexOf('${', end)
    if (start === -1) {
      parts.push(text.slice(end))
      break
    }
    if (start > end && text[start - 1] === '$') {
      parts.push(text.slice(end, start - 1), '${')
      end = start + 2
      continue
    }
    parts.push(text.slice(end, start))
    const close = text.indexOf('}', start)
    if (close === -1) return { problem: 'has a reference without a closing brace; write $${ for a literal ${' }
    const reference = parseReference(text.slice(start + 2, close))
    if (reference === undefined)
      return {
        problem: 'has a malformed reference; write ${KEY} or ${project.environment.KEY}, and $${ for a literal ${',
      }
    if ((references += 1) > MAX_REFERENCES) return { problem: `has more than ${String(MAX_REFERENCES)} references` }
    parts.push(reference)
    end = close + 1
  }
  return parts
}

function parseReference(text: string): Reference | undefined {
  const names = text.split('.')
  if (names.length <= 2) return SECRET_KEY.test(text) ? { text, place: undefined, key: text } : undefined
  const [project = '', env = '', key = '', ...more] = names
  const isWellFormed = PROJECT_NAME.test(project) && ENV.test(env) && SECRET_KEY.test(key) && more.length === 0
  return isWellFormed ? { text, place: { project, env }, key } : undefined
}

/** The references of a template. */
export function referencesOf(template: Template): readonly Reference[] {
  return template.filter((part) => typeof part !== 'string')
}

/** Why a value cannot be resolved. */
export type ReferenceProblem = 'missing' | 'not allowed' | 'circular' | 'too deep' | 'too large' | 'unresolved'

/** A value of an environment, parsed if it refers to others. */
export type SourceValue = string | Template

/** A place that is read, with the values that are known. The first place is that of the fetch. */
export type Source = {
  readonly project: string
  /** Returns the source of a reference, and whether this one may read it. */
  readonly sourceOf: (reference: Reference) => Source | 'not allowed'
  readonly valueOf: (key: string) => SourceValue | undefined
}

/** A reference that failed, always in the project whose secrets are resolved. Other projects stay anonymous. */
export type ReferenceFailure = { readonly key: string; readonly reference: string; readonly problem: ReferenceProblem }

type Resolved = { readonly text: string; readonly bytes: number; readonly depth: number }

/** The maximum length of a chain of references. */
const MAX_DEPTH = 16

/**
 * Resolves values. Each is resolved once, however often others refer to it, and in its own environment. Nothing is executed,
 * and what a reference is replaced with is not parsed again.
 *
 * @param limits `valueBytes` is for each value, `totalBytes` for all together, intermediate ones included
 */
export function createResolver(limits: { readonly valueBytes: number; readonly totalBytes: number }) {
  const known = new Map<Source, Map<string, Resolved>>()
  const open = new Map<Source, Set<string>>()
  let total = 0

  function resolve(source: Source, key: string, value: SourceValue, level: number): Resolved | ReferenceFailure {
    const ofSource = known.get(source) ?? new Map<string, Resolved>()
    known.set(source, ofSource)
    const done = ofSource.get(key)
    if (done !== undefined) return done
    const opened = open.get(source) ?? new Set()
    open.set(source, opened.add(key))
    const resolved = typeof value === 'string' ? plain(value) : join(source, key, value, level)
    opened.delete(key)
    if ('problem' in resolved) return resolved
    total += resolved.bytes
    if (total > limits.totalBytes) return { key, reference: '', problem: 'too large' }
    ofSource.set(key, resolved)
    return resolved
  }

  function join(source: Source, key: string, template: Template, level: number): Resolved | ReferenceFailure {
    const texts: string[] = []
    let bytes = 0
    let depth = 0
    for (const part of template) {
      const next = typeof part === 'string' ? plain(part) : follow(source, key, part, level)
      if ('problem' in next) return next
      bytes += next.bytes
      depth = Math.max(depth, next.depth)
      if (bytes > limits.valueBytes) return { key, reference: '', problem: 'too large' }
      if (depth > MAX_DEPTH) return { key, reference: typeof part === 'string' ? '' : part.text, problem: 'too deep' }
      texts.push(next.text)
    }
    return { text: texts.join(''), bytes, depth }
  }

  function follow(source: Source, key: string, reference: Reference, level: number): Resolved | ReferenceFailure {
    const fail = (problem: ReferenceProblem) => ({ key, reference: reference.text, problem })
    const target = source.sourceOf(reference)
    if (typeof target === 'string') return fail(target)
    if (open.get(target)?.has(reference.key) === true) return fail('circular')
    if (level === MAX_DEPTH) return fail('too deep')
    const value = target.valueOf(reference.key)
    if (value === undefined) return fail('missing')
    const resolved = resolve(target, reference.key, value, level + 1)
    if (!('problem' in resolved)) return { ...resolved, depth: resolved.depth + 1 }
    // The reader learns nothing about the secrets of another project.
    if (target.project === source.project) return resolved
    return fail(resolved.problem === 'missing' || resolved.problem === 'not allowed' ? 'unresolved' : resolved.problem)
  }

  return {
    /** Resolves a value of a source. */
    resolve: (source: Source, key: string, value: SourceValue): string | ReferenceFailure => {
      const resolved = resolve(source, key, value, 0)
      return 'problem' in resolved ? resolved : resolved.text
    },
  }
}

function plain(text: string): Resolved {
  return { text, bytes: Buffer.byteLength(text), depth: 0 }
}

const PROBLEMS: Readonly<Record<ReferenceProblem, string>> = {
  missing: 'does not exist',
  'not allowed': 'does not exist, or no reference rule of its project allows it',
  circular: 'is circular',
  'too deep': `follows more than ${String(MAX_DEPTH)} others`,
  'too large': 'makes the value, or all values together, too large',
  unresolved: 'cannot be resolved in its own project',
}

/** Returns an error message, which contains only names of the reading project. */
export function describeFailure({ key, reference, problem }: ReferenceFailure): string {
  const name = JSON.stringify(key)
  return reference === ''
    ? `The value of ${name} becomes too large with its references.`
    : `The value of ${name} refers to \${${reference}}, which ${PROBLEMS[problem]}.`
}

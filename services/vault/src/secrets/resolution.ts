import type { ProjectRef } from '../access/administrator.ts'
import { apiError } from '../errors.ts'
import { type AuthenticRows, effective, type SealedProject } from '../integrity/rows.ts'
import { isTemplate } from '../keyring/envelope.ts'
import { grantedKeys, type ReferenceRule } from '../references/reference-rules.ts'
import {
  createResolver,
  describeFailure,
  parseTemplate,
  type Reference,
  type ReferencePlace,
  referencesOf,
  type Source,
  type SourceValue,
} from '../references/references.ts'
import { MAX_VALUE_BYTES, type StoredValues, type Values } from './values.ts'

/** Values that others refer to. Every method is one statement. */
export type ReferencedStore = {
  /** The projects with these names, without their keys. */
  findProjects(names: readonly string[]): Promise<readonly SealedProject[]>
  /** The rules of these projects for these readers. */
  rulesBetween(projectUids: readonly string[], readerUids: readonly string[]): Promise<readonly ReferenceRule[]>
  /** Environments with all names, and with the wanted values only; the others are empty. Reads nothing beyond a limit. */
  readWanted(
    wanted: readonly {
      readonly projectUid: string
      readonly env: string
      readonly keys: readonly string[] | 'all'
    }[],
    limits: { readonly maxBytes: number; readonly maxCost: number },
  ): Promise<readonly StoredValues[] | 'too large' | 'costly'>
}

/** The environment whose values are resolved. */
export type ResolvedPlace = { readonly project: ProjectRef; readonly env: string }

/** An environment of another project that was read, and the environment that refers to it. */
export type CrossedReference = { readonly reader: ResolvedPlace; readonly target: ResolvedPlace }

/** Resolved values, what was read of other projects, and the cost of reading it, in bytes. */
export type Resolution = {
  readonly values: ReadonlyMap<string, string>
  readonly crossed: readonly CrossedReference[]
  readonly cost: number
}

/** Thrown instead of reading or resolving more than the given cost. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly'
}

/** How many environments one fetch reads in addition to its own and those it inherits from. */
const MAX_PLACES = 16
/** How much one fetch reads of other environments: more than a hundred thousand names, which their seals cover. */
const MAX_COST = 64 * 1024 ** 2
/** Each round follows all references that are known. */
const MAX_ROUNDS = 16

type Place = Source & {
  readonly env: string
  uid: string | undefined
  /** Undefined for a key that does not exist. Other keys were not read yet, unless all were. */
  readonly values: Map<string, SourceValue | undefined>
  readonly isComplete: boolean
  /** The references of its values that were found. */
  readonly seen: Set<string>
  /** The keys that rules of this project let other places refer to; null for all. */
  readonly granted: Map<Place, ReadonlySet<string> | null>
}

/** Resolves references. */
export type ResolveReferences = ReturnType<typeof createResolution>

/**
 * Resolves values that refer to others, with the stored values of this moment.
 *
 * @param deps `maxBytes` is the limit of all values together
 */
export function createResolution(deps: {
  store: ReferencedStore
  values: Pick<Values, 'decrypt'>
  rows: Pick<AuthenticRows, 'assertInheritance' | 'acceptProject' | 'referenceRules'>
  /** Lets other requests have their turn. */
  threadTurn: (bytes: number) => Promise<void> | undefined
  maxBytes: number
}) {
  const { values, rows, threadTurn, maxBytes } = deps

  /**
   * @param known all values of the environment, or some of them
   * @param options `maxCost` is the largest cost of the result; `from` replaces the store
   * @throws ApiError unresolved_reference, decryption_failed
   * @throws TooCostly
   */
  return async (
    root: ResolvedPlace,
    known: { readonly values: ReadonlyMap<string, SourceValue>; readonly areAll: boolean },
    { maxCost = MAX_COST, from: store = deps.store }: { maxCost?: number; from?: ReferencedStore } = {},
  ): Promise<Resolution> => {
    const places = new Map<string, Place>()
    let bytes = 0
    let cost = 0

    function placeAt({ project, env }: ReferencePlace): Place {
      const id = `${project}/${env}`
      const place = places.get(id) ?? newPlace(project, env, false)
      places.set(id, place)
      if (places.size > MAX_PLACES + 1)
        throw unresolved(`The values refer to more than ${String(MAX_PLACES)} other environments.`)
      return place
    }

    function newPlace(project: string, env: string, isComplete: boolean): Place {
      const place: Place = {
        ...{ project, env, uid: undefined, values: new Map(), isComplete, seen: new Set(), granted: new Map() },
        valueOf: (key) => place.values.get(key),
        sourceOf: (reference) => {
          const target = targetOf(place, reference)
          if (target.uid === undefined) return 'not allowed'
          return isAllowed(place, target, reference.key) ? target : 'not allowed'
        },
      }
      return place
    }

    function targetOf(place: Place, { place: to }: Reference): Place {
      return to === undefined ? place : placeAt(to)
    }

    function isAllowed(from: Place, to: Place, key: string): boolean {
      if (from.uid === to.uid) return true
      const keys = to.granted.get(from)
      return keys === null || keys?.has(key) === true
    }

    const own = newPlace(root.project.name, root.env, known.areAll)
    own.uid = root.project.uid
    places.set(`${own.project}/${own.env}`, own)
    for (const [key, value] of known.values) own.values.set(key, value)

    /** References that were found and not followed yet. */
    let found: { readonly from: Place; readonly reference: Reference }[] = []
    async function scan(from: Place, value: SourceValue): Promise<void> {
      if (typeof value === 'string') return
      cost += value.length * PART_COST
      await threadTurn(value.length * PART_COST)
      for (const reference of referencesOf(value)) {
        if (from.seen.has(reference.text)) continue
        from.seen.add(reference.text)
        found.push({ from, reference })
      }
    }
    const crossed = new Map<string, CrossedReference>()

    async function identify(): Promise<void> {
      const unknown = [...places.values()].filter((place) => place.uid === undefined)
      for (const place of unknown) if (place.project === own.project) place.uid = own.uid
      const names = [...new Set(unknown.filter(({ uid }) => uid === undefined).map(({ project }) => project))]
      const projects = names.length === 0 ? [] : (await store.findProjects(names)).filter(rows.acceptProject)
      for (const place of unknown) place.uid ??= projects.find(({ name }) => name === place.project)?.uid
      await readRules()
    }

    async function readRules(): Promise<void> {
      const pairs = new Map<Place, Set<Place>>()
      for (const { from, reference } of found) {
        const to = targetOf(from, reference)
        if (to.uid !== undefined && from.uid !== to.uid && !to.granted.has(from))
          pairs.set(from, (pairs.get(from) ?? new Set()).add(to))
      }
      if (pairs.size === 0) return
      const uidsOf = (list: Iterable<Place>) => [...new Set([...list].map(({ uid }) => uid ?? ''))]
      const targets = uidsOf([...pairs.values()].flatMap((each) => [...each]))
      const rules = (await store.rulesBetween(targets, uidsOf(pairs.keys()))).filter(rows.referenceRules.accept)
      for (const [from, all] of pairs)
        for (const to of all) {
          const own = rules.filter(({ projectUid, readerUid }) => projectUid === to.uid && readerUid === from.uid)
          to.granted.set(from, grantedKeys(own, { readerEnv: from.env, env: to.env }))
        }
    }

    function wantedValues(): ReadonlyMap<Place, ReadonlySet<string>> {
      const wanted = new Map<Place, Set<string>>()
      for (const { from, reference } of found) {
        const to = targetOf(from, reference)
        if (to.uid === undefined || !isAllowed(from, to, reference.key)) continue
        if (from.uid !== to.uid) cross(from, to)
        if (to.isComplete || to.values.has(reference.key)) continue
        wanted.set(to, (wanted.get(to) ?? new Set()).add(reference.key))
      }
      return wanted
    }

    function cross(from: Place, to: Place): void {
      const refOf = ({ uid, project, env }: Place): ResolvedPlace => ({
        project: { uid: uid ?? '', name: project },
        env,
      })
      crossed.set(`${from.project}/${from.env} ${to.project}/${to.env}`, { reader: refOf(from), target: refOf(to) })
    }

    async function load(wanted: ReadonlyMap<Place, ReadonlySet<string>>): Promise<void> {
      const list = [...wanted].map(([place, keys]) => ({ place, keys: [...keys] }))
      const read = await store.readWanted(
        list.map(({ place: { uid, env }, keys }) => ({ projectUid: uid ?? '', env, keys })),
        { maxBytes: maxBytes - bytes, maxCost: maxCost - cost },
      )
      if (read === 'too large')
        throw unresolved('The referenced values are too large in total. Refer to fewer or smaller secrets.')
      if (read === 'costly' && maxCost < MAX_COST) throw new TooCostly()
      if (read === 'costly') throw unresolved('The references involve too many environments. Refer to fewer of them.')
      for (const [i, { place, keys }] of list.entries()) {
        const { levels } = read[i] ?? { levels: [] }
        const names = levels.reduce((sum, { current }) => sum + current.length, 0)
        cost += names * ROW_COST
        await threadTurn(names * CODE_COST)
        rows.assertInheritance(levels)
        for (const key of keys) place.values.set(key, undefined)
        for (const [env, row] of effective(levels)) {
          if (!wanted.get(place)?.has(row.key)) continue
          bytes += row.blob.length
          cost += row.blob.length
          await threadTurn(row.blob.length)
          const text = await values.decrypt({ projectUid: place.uid ?? '', project: place.project }, env, row)
          // The project was deleted meanwhile.
          if (text === undefined) continue
          const value = sourceValue(text, isTemplate(row.blob))
          place.values.set(row.key, value)
          await scan(place, value)
        }
      }
    }

    for (const value of known.values.values()) await scan(own, value)
    for (let rounds = 0; found.length > 0 && rounds < MAX_ROUNDS; rounds++) {
      // Creates the places, which are identified together.
      for (const { from, reference } of found) targetOf(from, reference)
      await identify()
      const wanted = wantedValues()
      found = []
      if (wanted.size > 0) await load(wanted)
    }

    const resolver = createResolver({ valueBytes: MAX_VALUE_BYTES, totalBytes: maxBytes })
    const resolved = new Map<string, string>()
    for (const [key, value] of known.values) {
      await threadTurn(typeof value === 'string' ? value.length : value.length * PART_COST)
      const text = resolver.resolve(own, key, value)
      if (typeof text !== 'string') throw unresolved(describeFailure(text))
      resolved.set(key, text)
      cost += text.length
      if (maxCost < MAX_COST && cost > maxCost) throw new TooCostly()
    }
    return { values: resolved, crossed: [...crossed.values()], cost }
  }
}

/** Authenticating a secret's version costs a fraction of decrypting its value. */
export const CODE_COST = 256
/** The memory and time of a name that is read, as a number of bytes. */
export const ROW_COST = 512
/** The memory and time of a part of a value with references, as a number of bytes. */
const PART_COST = 256

const unresolved = (message: string) => apiError('unresolved_reference', message)

/** A decrypted value. @throws ApiError decryption_failed if a stored template is malformed, which the vault never stores */
export function sourceValue(text: string, refers: boolean): SourceValue {
  if (!refers) return text
  const parsed = parseTemplate(text)
  if ('problem' in parsed) throw apiError('decryption_failed')
  return parsed
}

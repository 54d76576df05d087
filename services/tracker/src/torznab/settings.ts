import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { cachedValue, type Invalidations } from '../invalidation/invalidation.ts'

/** The settings of the Torznab API, which administrators change. */
export type TorznabSettings = {
  /** If false, every request is refused with error 910. */
  readonly enabled: boolean
  /** Whether requests are written to the request log. Statistics count them either way. */
  readonly logging: boolean
  /** The window of both limits. */
  readonly windowSeconds: number
  /** Searches per window for each user. */
  readonly searchLimit: number
  /** Downloads per window for each user. */
  readonly downloadLimit: number
}

/** Settings to change. */
export type TorznabSettingsChanges = { [Name in keyof TorznabSettings]?: TorznabSettings[Name] | undefined }

/** The bounds of settings. The database has the same constraints. */
export const TORZNAB_BOUNDS = { windowSeconds: { min: 10, max: 3_600 }, limit: { min: 1, max: 10_000 } } as const

export const PRESET_NAMES = ['strict', 'default', 'relaxed', 'generous'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

type Preset = {
  readonly title: string
  readonly limits: Pick<TorznabSettings, 'windowSeconds' | 'searchLimit' | 'downloadLimit'>
}

/** Named limits. A new site has the default preset. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  strict: { title: 'Strict', limits: { windowSeconds: 60, searchLimit: 15, downloadLimit: 10 } },
  default: { title: 'Default', limits: { windowSeconds: 60, searchLimit: 30, downloadLimit: 20 } },
  relaxed: { title: 'Relaxed', limits: { windowSeconds: 60, searchLimit: 60, downloadLimit: 40 } },
  generous: { title: 'Generous', limits: { windowSeconds: 60, searchLimit: 120, downloadLimit: 80 } },
}

/** The store of the settings. Each method is one atomic change. */
export type TorznabSettingsStore = {
  read(): Promise<TorznabSettings>
  /** Changes the settings and records in the admin log what changed. */
  change(changes: TorznabSettingsChanges, by: ActedBy): Promise<TorznabSettings>
}

export type TorznabConfiguration = ReturnType<typeof createTorznabSettings>

/**
 * Reads and changes the settings of the Torznab API.
 *
 * @param deps `store` throws an error that `isUnavailable` recognises when Postgres is unavailable
 */
export function createTorznabSettings(deps: {
  store: TorznabSettingsStore
  invalidations: Invalidations
  clock: Clock
}) {
  const { store, invalidations, clock } = deps

  return {
    /** The stored settings. */
    read: () => store.read(),

    /**
     * The settings that apply to a request. They are cached; a change drops them on all replicas.
     *
     * @throws an error that `isUnavailable` recognises if nothing is cached and Postgres is unavailable
     */
    current: cachedValue({
      load: () => store.read(),
      changedBy: ['torznab-settings'],
      ...{ invalidations, clock, serveStale: true },
    }),

    /** Changes the settings; a preset is applied before the other changes. */
    async change(changes: TorznabSettingsChanges & { preset?: PresetName | undefined }, actorId: string) {
      const { preset, ...others } = changes
      const settings = await store.change({ ...(preset && PRESETS[preset].limits), ...others }, actedBy(clock, actorId))
      await invalidations.publish({ kind: 'torznab-settings' })
      return settings
    },
  }
}

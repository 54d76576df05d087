import { createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import type { Invalidation, PublishInvalidation } from '../invalidation/invalidation.ts'

/** What administrators set for the Torznab API. */
export type TorznabSettings = {
  /** Whether the API answers at all; error 910 otherwise. */
  readonly enabled: boolean
  /** Whether requests are written to the request log. Statistics are kept either way. */
  readonly logging: boolean
  /** The window of both limits. */
  readonly windowSeconds: number
  /** Searches of a user in a window. */
  readonly searchLimit: number
  /** Downloads of a user in a window. */
  readonly downloadLimit: number
}

/** Settings to change; those left out stay as they are. */
export type TorznabSettingsChanges = { [Name in keyof TorznabSettings]?: TorznabSettings[Name] | undefined }

/** What settings may be. The database holds the same bounds. */
export const TORZNAB_BOUNDS = { windowSeconds: { min: 10, max: 3_600 }, limit: { min: 1, max: 10_000 } } as const

export const PRESET_NAMES = ['strict', 'default', 'relaxed', 'generous'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

type Preset = { readonly title: string } & Pick<TorznabSettings, 'windowSeconds' | 'searchLimit' | 'downloadLimit'>

/** Limits under a name. A new site has the default ones. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  strict: { title: 'Strict', windowSeconds: 60, searchLimit: 15, downloadLimit: 10 },
  default: { title: 'Default', windowSeconds: 60, searchLimit: 30, downloadLimit: 20 },
  relaxed: { title: 'Relaxed', windowSeconds: 60, searchLimit: 60, downloadLimit: 40 },
  generous: { title: 'Generous', windowSeconds: 60, searchLimit: 120, downloadLimit: 80 },
}

/** The store of the settings. Each method is one atomic change. */
export type TorznabSettingsStore = {
  read(): Promise<TorznabSettings>
  /** Changes the settings and records in the admin log what changed. */
  change(changes: TorznabSettingsChanges, by: ActedBy): Promise<TorznabSettings>
}

/** The use cases of the settings. `current` is what requests are answered by. */
export type TorznabConfiguration = ReturnType<typeof createTorznabSettings>

/** The bound on how long a lost invalidation has consequences. */
const TTL_MS = 30_000

/**
 * Reads and changes the settings of the Torznab API.
 *
 * @param deps `store` throws what `isUnavailable` recognises when Postgres is unavailable
 */
export function createTorznabSettings(deps: {
  store: TorznabSettingsStore
  publish: PublishInvalidation
  clock: Clock
}) {
  const { store, publish, clock } = deps
  const cache = createLookupCache<'settings', TorznabSettings>({
    load: () => store.read(),
    clock,
    maxValues: 1,
    maxAbsences: 1,
    valueTtlMs: TTL_MS,
    absenceTtlMs: 0,
    serveStale: true,
  })

  return {
    /** The settings as they are stored. */
    read: () => store.read(),

    /**
     * The settings to answer a request by: cached, and forgotten on all replicas as soon as they are changed.
     *
     * @throws what `isUnavailable` recognises when nothing is cached and Postgres is unavailable
     */
    async current(): Promise<TorznabSettings> {
      return (await cache.get('settings')) ?? store.read()
    },

    /** Changes the settings; a preset is applied before the other changes. */
    async change(changes: TorznabSettingsChanges & { preset?: PresetName | undefined }, actorId: string) {
      const { preset, ...others } = changes
      const settings = await store.change(withPreset(preset, others), actedBy(clock, actorId))
      await publish({ kind: 'torznab-settings' })
      return settings
    },

    /** Drops what a change made outdated. */
    forget(change: Invalidation): void {
      if (change.kind === 'torznab-settings') cache.forget('settings')
    },

    /** Loads the settings again when they are next used: changes may have been missed. */
    revalidateAll: () => cache.revalidateAll(),
  }
}

function withPreset(preset: PresetName | undefined, changes: TorznabSettingsChanges): TorznabSettingsChanges {
  if (preset === undefined) return changes
  const { windowSeconds, searchLimit, downloadLimit } = PRESETS[preset]
  return {
    ...changes,
    windowSeconds: changes.windowSeconds ?? windowSeconds,
    searchLimit: changes.searchLimit ?? searchLimit,
    downloadLimit: changes.downloadLimit ?? downloadLimit,
  }
}

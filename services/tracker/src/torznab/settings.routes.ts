import { z } from 'zod'
import { endpoints } from '../surface.ts'
import { PRESET_NAMES, PRESETS, TORZNAB_BOUNDS, type TorznabConfiguration } from './settings.ts'

function bounded({ min, max }: { min: number; max: number }) {
  const message = `must be a whole number from ${String(min)} to ${String(max)}`
  return z.int(message).min(min, message).max(max, message)
}

const limits = {
  windowSeconds: bounded(TORZNAB_BOUNDS.windowSeconds),
  searchLimit: bounded(TORZNAB_BOUNDS.limit),
  downloadLimit: bounded(TORZNAB_BOUNDS.limit),
}
const settings = z.object({ enabled: z.boolean(), logging: z.boolean(), ...limits }).meta({ id: 'TorznabSettings' })
const presetName = z.enum(PRESET_NAMES, `must be one of ${PRESET_NAMES.join(', ')}`)
const presets = z.object({
  items: z.array(z.object({ preset: presetName, title: z.string(), ...limits }).meta({ id: 'TorznabPreset' })),
})

const endpoint = endpoints<{ torznabConfiguration: TorznabConfiguration }>()
const admin = { tag: 'torznab', access: 'admin', limit: 'read' } as const

/** The settings of the Torznab API. */
export const torznabSettingsEndpoints = [
  endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/torznab/settings',
    operationId: 'getTorznabSettings',
    summary: 'Get the settings of the Torznab API: whether it and its log are on, and the limits per user and window',
    answer: settings,
    handle: (_input, { torznabConfiguration }) => torznabConfiguration.read(),
  }),
  endpoint({
    ...admin,
    method: 'PATCH',
    limit: 'write',
    path: '/api/admin/torznab/settings',
    operationId: 'updateTorznabSettings',
    summary: 'Change the settings, on all replicas within a second; `preset` sets the limits that you omit',
    body: settings.partial().extend({ preset: presetName.optional() }),
    answer: settings,
    handle: ({ body, caller }, { torznabConfiguration }) =>
      torznabConfiguration.change(body, caller.session.account.id),
  }),
  endpoint({
    ...admin,
    method: 'GET',
    path: '/api/admin/torznab/presets',
    operationId: 'listTorznabPresets',
    summary: 'List the presets of limits',
    answer: presets,
    handle: () => Promise.resolve({ items: PRESET_NAMES.map((preset) => ({ preset, ...PRESETS[preset] })) }),
  }),
]

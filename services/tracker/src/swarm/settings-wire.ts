import type { SwarmSettings } from './swarm.ts'

// SETTINGS ----------------------------------------------------------------------------------------------------------

const SETTINGS_LENGTH = 32

/** The settings of a call and its time; `now` in seconds since the epoch, 0 for the time of Redis. */
export function encodeSettings(settings: SwarmSettings, now: number): Buffer {
  const bytes = Buffer.alloc(SETTINGS_LENGTH)
  bytes.writeUInt32BE(now, 0)
  bytes.writeUInt32BE(settings.timeToLive, 4)
  bytes.writeUInt32BE(settings.minInterval, 8)
  bytes.writeUInt32BE(settings.repeatWindow, 12)
  bytes.writeUInt32BE(settings.recoveryInterval, 16)
  bytes.writeUInt16BE(settings.maxPeersPerOwner, 20)
  bytes.writeUInt32BE(settings.keepCountersFor, 22)
  bytes.writeUIntBE(settings.maxBytesPerSecond, 26, 6)
  return bytes
}

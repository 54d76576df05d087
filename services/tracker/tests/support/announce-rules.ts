import { expect } from '@jest/globals'
import { FAILURES, type FailureName, WARNINGS, type WarningName } from '@vault-and-tracker/bencode-tracker'
import type { Reply } from './announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './members.ts'
import { metricOf } from './metrics.ts'
import type { TestTracker } from './tracker.ts'

/** Shared setup for tests of the announce rules. The tracker may be started later. */
export function createAnnounceRules(running: () => TestTracker) {
  let uploader: Promise<TestMember> | undefined
  let serial = 0

  return {
    /** Registers a user. */
    someone: (): Promise<{ id: string; passkey: string }> => {
      serial += 1
      return createAnnouncer(running(), `someone-${String(serial)}`)
    },

    /** Uploads a torrent. */
    someTorrent: async (): Promise<{ id: string; infoHash: string }> => {
      serial += 1
      const name = `Torrent number ${String(serial)}`
      uploader ??= createMember(running(), 'uploader')
      return uploadTorrent(await uploader, name)
    },

    /** Expects a reply with this failure, and that it is counted. */
    expectFailure: async (name: FailureName, act: () => Promise<Reply>, action = 'announce'): Promise<Reply> => {
      const tracker = running()
      const line = `tracker_failures_total{action="${action}",rule="${name}"}`
      const before = await metricOf(tracker, line)
      const reply = await act()
      expect(reply.fields['failure reason']).toMatch(new RegExp(`^${FAILURES[name].reason}`))
      expect(reply.status).toBe(FAILURES[name].status)
      expect(reply.fields['retry in']).toBe(FAILURES[name].retryIn)
      expect(reply.fields['interval']).toEqual(expect.any(Number))
      expect(reply.fields['min interval']).toEqual(expect.any(Number))
      expect(await metricOf(tracker, line)).toBe(before + 1)
      return reply
    },

    /** Expects a reply with this warning and no peers, and that it is counted. */
    expectWarning: async (name: WarningName, act: () => Promise<Reply>): Promise<Reply> => {
      const tracker = running()
      const line = `tracker_warnings_total{rule="${name}"}`
      const before = await metricOf(tracker, line)
      const reply = await act()
      expect(reply.status).toBe(200)
      expect(reply.fields['warning message']).toBe(WARNINGS[name].message)
      expect(reply.peers).toEqual([])
      expect(await metricOf(tracker, line)).toBe(before + 1)
      return reply
    },
  }
}

import { expect, test } from '@jest/globals'
import { createOutbox, type Mail } from './outbox.ts'

const mail: Mail = { to: 'a@example.org', subject: 'Subject', text: 'Text' }

/** An outbox whose server refuses the first attempts. */
function outboxRefusing(refusals: number) {
  const sent: Mail[] = []
  const failures: unknown[] = []
  let attempts = 0
  const outbox = createOutbox({
    send: (each) => {
      attempts += 1
      if (attempts <= refusals) return Promise.reject(new Error('busy'))
      sent.push(each)
      return Promise.resolve()
    },
    onFailure: (error) => failures.push(error),
    retryAfterMs: [1, 1],
  })
  return { outbox, sent, failures }
}

const settled = async (room: () => number): Promise<void> => {
  while (room() < 500) await new Promise((resolve) => setTimeout(resolve, 1))
}

test.each([
  [0, 1, 0],
  [2, 1, 2],
  [3, 0, 3],
])('after %d refusals, %d emails are sent and %d failures reported', async (refusals, delivered, failed) => {
  const { outbox, sent, failures } = outboxRefusing(refusals)
  let created = 0
  outbox.add(() => {
    created += 1
    return Promise.resolve(mail)
  })
  await settled(outbox.room)
  expect([sent.length, failures.length, created]).toEqual([delivered, failed, 1])
})

test('an email whose creation fails is created again, and one that is not due is not sent', async () => {
  const { outbox, sent, failures } = outboxRefusing(0)
  let created = 0
  outbox.add(() => {
    created += 1
    return created === 1 ? Promise.reject(new Error('no database')) : Promise.resolve(mail)
  })
  outbox.add(() => Promise.resolve(undefined))
  await settled(outbox.room)
  expect([sent.length, failures.length, created]).toEqual([1, 1, 2])
})

test('refuses more than 500 waiting emails, and stops after the attempts in progress', async () => {
  const inProgress: (() => void)[] = []
  const outbox = createOutbox({
    send: () => new Promise((_resolve, reject) => inProgress.push(() => reject(new Error('no answer')))),
    onFailure: () => undefined,
    retryAfterMs: [1_000_000],
  })
  for (let i = 0; i < 500; i++) outbox.add(() => Promise.resolve(mail))
  expect(() => outbox.add(() => Promise.resolve(mail))).toThrow('Too many emails')
  while (inProgress.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
  const stopped = outbox.stop()
  for (const fail of inProgress) fail()
  await stopped
  expect([inProgress.length, outbox.room()]).toEqual([2, 500])
})

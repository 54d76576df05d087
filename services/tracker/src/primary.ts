import { within } from '@vault-and-tracker/service-kit/core/concurrency'

/**
 * Sends a message from a worker to the primary process and waits for the answer.
 *
 * @param answerOf parses a message of the primary process; undefined if it is not the answer
 * @returns `otherwise` if the primary process has ended or does not answer within `ms`
 */
export async function askPrimary<Answer>(
  question: string | object,
  answerOf: (message: unknown) => Answer | undefined,
  ms: number,
  otherwise: Answer,
): Promise<Answer> {
  if (!process.connected) return otherwise
  let onMessage = (_message: unknown): void => undefined
  const answered = new Promise<Answer>((resolve) => {
    onMessage = (message) => {
      const answer = answerOf(message)
      if (answer !== undefined) resolve(answer)
    }
  })
  process.on('message', onMessage)
  // A failed send ends in the timeout below.
  process.send?.(question, undefined, undefined, () => undefined)
  const answer = await within(ms, answered, otherwise)
  process.off('message', onMessage)
  return answer
}

let hasEnded = false
const listeners = new Set<() => void>()

function change(next: boolean): void {
  hasEnded = next
  for (const listener of listeners) listener()
}

/** Whether something was refused because the session has ended. */
export const sessionEnd = {
  read: (): boolean => hasEnded,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  note: (): void => change(true),
  forget: (): void => change(false),
}

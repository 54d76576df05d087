import { type ComponentType, useEffect, useState } from 'react'
import { toast } from './toast.ts'

/** A dialog whose code is loaded when it opens. If that fails, a message says so and the page stays. */
export function lazyDialog<Props extends { onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function LazyDialog(props: Props) {
    const { onClose } = props
    const [Loaded, setLoaded] = useState<ComponentType<Props>>()
    useEffect(() => {
      load().then(
        (loaded) => setLoaded(() => loaded),
        () => {
          toast('Could not load this. Check your connection, or reload the page.', 'bad')
          onClose()
        },
      )
      // Once: another function for closing is no reason to load again.
      // oxlint-disable-next-line react-hooks/exhaustive-deps
    }, [])
    return Loaded && <Loaded {...props} />
  }
}

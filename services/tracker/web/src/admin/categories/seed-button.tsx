import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { api } from '../../api/client.ts'
import { reloadCategories } from './queries.ts'

/** Creates the standard tree. The name is the specification's. Offered only if there are no categories. */
export function SeedButton() {
  const queries = useQueryClient()
  const seed = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/categories/seed')),
    onSuccess: () => {
      toast('Standard categories created.')
    },
    onError: toastProblem,
    // Another administrator may have created categories in the meantime.
    onSettled: () => reloadCategories(queries),
  })
  return (
    <Button kind="main" isBusy={seed.isPending} onClick={() => seed.mutate()}>
      Seed Torznab Categories
    </Button>
  )
}

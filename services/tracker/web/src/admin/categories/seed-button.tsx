import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { api } from '../../api/client.ts'
import { forgetCategories } from './queries.ts'

/** Makes the standard tree. Offered only where there is no category. */
export function SeedButton() {
  const queries = useQueryClient()
  const seed = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.POST('/api/admin/categories/seed')),
    onSuccess: () => {
      toast('The standard categories were made.')
    },
    onError: toastProblem,
    // Where another administrator was first, the page shows what they made.
    onSettled: () => forgetCategories(queries),
  })
  return (
    <Button kind="main" isBusy={seed.isPending} onClick={() => seed.mutate()}>
      Seed Torznab Categories
    </Button>
  )
}

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import type { ClientRule, Clients } from '../../api/client.ts'
import { changeRules, showChanged } from './queries.ts'
import { versionsText } from './rule-text.ts'

/** A button that removes a rule. */
export function RemoveRule({ rule, label, children }: { rule: ClientRule; label: string; children: string }) {
  const queries = useQueryClient()
  const remove = useMutation<Clients, ApiError>({
    mutationFn: () => changeRules({ remove: [rule] }),
    onSuccess: (changed) => {
      toast(`Rule removed: ${rule.verdict} ${rule.prefix}, version ${versionsText(rule)}.`)
      showChanged(queries, changed)
    },
    onError: toastProblem,
  })
  return (
    <Button className="small" isBusy={remove.isPending} onClick={() => remove.mutate()} aria-label={label}>
      {children}
    </Button>
  )
}

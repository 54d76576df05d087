export { Confirm, Dialog } from './dialog.tsx'
export { Empty, Problem, Skeleton } from './states.tsx'
export { toast, toastProblem } from './toast.ts'
export { Toasts } from './toasts.tsx'

import type { ServerResponse } from 'node:http';
import { LightCancellation, toAbortSignal, type Cancellation } from '@behalf/kernel';

/** Aborts when the connection ends before the answer: work for nobody stops. */
export function callerLeaving(res: ServerResponse): Cancellation {
  const left = new LightCancellation();
  const leave = () => {
    if (!res.writableFinished) left.abort(new DOMException('The caller has left', 'AbortError'));
  };
  // Somebody may have left while it was still being found out who they are.
  if (res.closed) leave();
  else res.once('close', leave);
  return left;
}

/** The same as the platform's signal. */
export function whenCallerLeaves(res: ServerResponse): AbortSignal {
  return toAbortSignal(callerLeaving(res));
}

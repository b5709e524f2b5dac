import type { ServerResponse } from 'node:http';
import { LightCancellation, toAbortSignal, type Cancellation } from '@behalf/kernel';

/** Aborts when the connection ends before the answer: work for nobody stops. */
export function callerDisconnect(res: ServerResponse): Cancellation {
  const cancellation = new LightCancellation();
  const onClose = () => {
    if (!res.writableFinished) cancellation.abort(new DOMException('The client disconnected', 'AbortError'));
  };
  // Somebody may have left while it was still being found out who they are.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return cancellation;
}

/** The same as the platform's signal. */
export function createDisconnectSignal(res: ServerResponse): AbortSignal {
  return toAbortSignal(callerDisconnect(res));
}

import { formatDuration } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';

/** When a server that fails is tried again. */
export function retryText(retryAt: number, now = Date.now()): string {
  const { connections } = strings.admin;
  const wait = retryAt - now;
  return wait > 0 ? connections.retryIn(formatDuration(Math.max(1_000, wait))) : connections.retryNext;
}
